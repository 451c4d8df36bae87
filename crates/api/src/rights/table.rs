//! What every route needs. A route that is not here is refused.

use axum::http::Method;
use ucp_access::Right::{Approve, ManageAccess, ManageCredentials, Read, Write};

use crate::path_base::PathBase;
use crate::rights::need::Action::{Named, OnPlane, OnType};
use crate::rights::need::Need::{self, Authenticated, Over, Public, Somewhere};
use crate::rights::need::Place::{
    DescribedType, Everything, Group, Namespace, Plane, Region, Type,
};

/// The entry of a route.
pub(super) enum Entry {
    /// The route has this method, which needs that.
    Needs(Need),
    /// The route has other methods, in the form of `Allow`.
    OtherMethods(String),
    /// The route is not in the table.
    Missing,
}

type Row = (&'static str, &'static [(Method, Need)]);

macro_rules! table {
    ($($route:literal: $($method:ident $need:expr),+;)+) => {
        &[$(($route, &[$((Method::$method, $need)),+])),+]
    };
}

/// A GET is for HEAD too.
const ROUTES: &[Row] = table! {
    "/": GET Public;
    "/docs": GET Public;
    "/docs/": GET Public;
    "/docs/concepts.md": GET Public;
    "/docs/errors/{code}": GET Public;
    "/docs/how-to/{page}": GET Public;
    "/docs/limits.md": GET Public;
    "/docs/offerings.md": GET Public;
    "/docs/simulator.md": GET Public;
    "/docs/{*rest}": GET Public;
    "/healthz": GET Public;
    "/metrics": GET Over(Read, Everything, Named("System.Resources/metrics/read"));
    "/openapi.json": GET Public;
    "/openapi/v2": GET Authenticated;
    "/openapi/v3": GET Authenticated;
    "/readyz": GET Public;
    "/version": GET Authenticated;

    "/planes": GET Authenticated;
    "/planes/{type}": GET Authenticated;
    "/planes/{type}/{plane}":
        GET Over(Read, Plane, OnPlane("read")),
        PUT Over(Write, Plane, OnPlane("write")),
        DELETE Over(ManageAccess, Plane, OnPlane("delete"));
    "/planes/radius/{plane}/providers":
        GET Over(Read, Plane, Named("System.Resources/providers/read"));
    "/planes/radius/{plane}/:refactor":
        POST Somewhere(Read, Named("System.Radius/planes/refactor/action"));
    "/planes/radius/{plane}/providers/System.Resources/auditEvents":
        GET Over(ManageAccess, Plane, Named("System.Resources/auditEvents/read"));
    "/planes/radius/{plane}/providers/System.Resources/plans/{plan}": GET Authenticated;
    "/planes/radius/{plane}/providers/System.Resources/plans/{plan}/:approve":
        POST Somewhere(Approve, Named("System.Resources/plans/approve/action"));
    "/planes/radius/{plane}/providers/System.Resources/plans/{plan}/:reject":
        POST Somewhere(Approve, Named("System.Resources/plans/reject/action"));
    "/planes/radius/{plane}/providers/System.Resources/refactors": GET Authenticated;
    "/planes/radius/{plane}/providers/System.Resources/refactors/{refactor}": GET Authenticated;
    "/planes/radius/{plane}/providers/System.Resources/refactors/{refactor}/:apply":
        POST Somewhere(Write, Named("System.Resources/refactors/apply/action"));
    "/planes/radius/{plane}/providers/System.Resources/refactors/{refactor}/:undo":
        POST Somewhere(Write, Named("System.Resources/refactors/undo/action"));
    "/planes/radius/{plane}/providers/System.Resources/roleAssignments": GET Authenticated;
    "/planes/radius/{plane}/providers/System.Resources/roleAssignments/{assignment}":
        GET Authenticated,
        PUT Somewhere(ManageAccess, Named("System.Resources/roleAssignments/write")),
        DELETE Somewhere(ManageAccess, Named("System.Resources/roleAssignments/delete"));
    "/planes/radius/{plane}/providers/{namespace}":
        GET Over(Read, Plane, Named("System.Resources/providers/read"));
    "/planes/azure/{plane}/providers/System.Azure/credentials": GET Authenticated;
    "/planes/azure/{plane}/providers/System.Azure/credentials/{credential}": GET Authenticated;

    "/planes/radius/{plane}/resourcegroups": GET Authenticated;
    "/planes/radius/{plane}/resourcegroups/{group}":
        GET Over(Read, Group, Named("System.Resources/resourceGroups/read")),
        PUT Over(Write, Group, Named("System.Resources/resourceGroups/write")),
        PATCH Over(Write, Group, Named("System.Resources/resourceGroups/write")),
        DELETE Over(Write, Group, Named("System.Resources/resourceGroups/delete"));
    "/planes/radius/{plane}/resourcegroups/{group}/:apply":
        POST Over(Write, Group, Named("System.Resources/resourceGroups/apply/action"));
    "/planes/radius/{plane}/resourcegroups/{group}/:delete":
        POST Over(Write, Group, Named("System.Resources/resourceGroups/delete"));
    "/planes/radius/{plane}/resourcegroups/{group}/:import":
        POST Over(Write, Group, Named("System.Resources/resourceGroups/import/action"));
    "/planes/radius/{plane}/resourcegroups/{group}/:refactor":
        POST Over(Read, Group, Named("System.Resources/resourceGroups/refactor/action"));
    "/planes/radius/{plane}/resourcegroups/{group}/:validate":
        POST Over(Read, Group, Named("System.Resources/resourceGroups/validate/action"));
    "/planes/radius/{plane}/resourcegroups/{group}/:whatIf":
        POST Over(Read, Group, Named("System.Resources/resourceGroups/whatIf/action"));
    "/planes/radius/{plane}/resourcegroups/{group}/resources":
        GET Over(Read, Group, Named("System.Resources/resourceGroups/read"));
    "/planes/radius/{plane}/resourcegroups/{group}/operations":
        GET Over(Read, Group, Named("System.Resources/operations/read"));
    "/planes/radius/{plane}/resourcegroups/{group}/leftovers":
        GET Over(Read, Group, Named("System.Resources/leftovers/read"));
    "/planes/radius/{plane}/resourcegroups/{group}/leftovers/{id}":
        GET Over(Read, Group, Named("System.Resources/leftovers/read")),
        DELETE Over(Write, Group, Named("System.Resources/leftovers/delete"));
    "/planes/radius/{plane}/resourcegroups/{group}/providers/{namespace}/{type}":
        GET Over(Read, Group, OnType("read"));
    "/planes/radius/{plane}/resourcegroups/{group}/providers/{namespace}/{type}/{alias}":
        GET Over(Read, Group, OnType("read")),
        PATCH Over(Write, Group, OnType("write")),
        DELETE Over(Write, Group, OnType("delete"));
    "/planes/radius/{plane}/resourcegroups/{group}/providers/{namespace}/{type}/{alias}/:release":
        POST Over(Write, Group, OnType("release/action"));

    "/planes/radius/{plane}/providers/System.Resources/locations/global/operationResults/{id}":
        GET Authenticated;
    "/planes/radius/{plane}/providers/System.Resources/locations/global/operationStatuses/{id}":
        GET Authenticated;
    "/planes/radius/{plane}/providers/System.Resources/locations/global/operationStatuses/{id}/:cancel":
        POST Authenticated;

    "/planes/aws/{plane}/providers/System.AWS/auditEvents":
        GET Over(ManageAccess, Plane, Named("System.AWS/auditEvents/read"));
    "/planes/aws/{plane}/providers/System.AWS/credentials":
        GET Over(Read, Plane, Named("System.AWS/credentials/read"));
    "/planes/aws/{plane}/providers/System.AWS/credentials/{credential}":
        GET Over(Read, Plane, Named("System.AWS/credentials/read")),
        PUT Over(ManageCredentials, Plane, Named("System.AWS/credentials/write")),
        DELETE Over(ManageCredentials, Plane, Named("System.AWS/credentials/delete"));

    "/planes/aws/{plane}/providers/System.AWS/predictions":
        GET Over(Read, Plane, Named("System.AWS/predictions/read"));
    "/planes/aws/{plane}/providers/System.AWS/predictions/{type}":
        GET Over(Read, Plane, Named("System.AWS/predictions/read"));

    "/planes/aws/{plane}/accounts/{account}/regions/{region}/leftovers":
        GET Over(Read, Region, Named("System.AWS/leftovers/read"));
    "/planes/aws/{plane}/accounts/{account}/regions/{region}/leftovers/{id}":
        GET Over(Read, Region, Named("System.AWS/leftovers/read")),
        DELETE Over(Write, Region, Named("System.AWS/leftovers/delete"));
    "/planes/aws/{plane}/accounts/{account}/regions/{region}/providers":
        GET Over(Read, Region, Named("System.AWS/resourceTypes/read"));
    "/planes/aws/{plane}/accounts/{account}/regions/{region}/providers/{namespace}":
        GET Over(Read, Namespace, Named("System.AWS/resourceTypes/read"));
    "/planes/aws/{plane}/accounts/{account}/regions/{region}/providers/{namespace}/resourceTypes/{type}":
        GET Over(Read, DescribedType, Named("System.AWS/resourceTypes/read"));
    "/planes/aws/{plane}/accounts/{account}/regions/{region}/providers/{namespace}/{type}":
        GET Over(Read, Type, OnType("read"));
    "/planes/aws/{plane}/accounts/{account}/regions/{region}/providers/{namespace}/{type}/:delete":
        POST Over(Write, Type, OnType("delete"));
    "/planes/aws/{plane}/accounts/{account}/regions/{region}/providers/{namespace}/{type}/:get":
        POST Over(Read, Type, OnType("read"));
    "/planes/aws/{plane}/accounts/{account}/regions/{region}/providers/{namespace}/{type}/:import":
        POST Over(Write, Type, OnType("import/action"));
    "/planes/aws/{plane}/accounts/{account}/regions/{region}/providers/{namespace}/{type}/:put":
        POST Over(Write, Type, OnType("write"));
    "/planes/aws/{plane}/accounts/{account}/regions/{region}/providers/{namespace}/{type}/:validate":
        POST Over(Read, Type, OnType("validate/action"));
    "/planes/aws/{plane}/accounts/{account}/regions/{region}/providers/{namespace}/{type}/:whatIf":
        POST Over(Read, Type, OnType("whatIf/action"));
    "/planes/aws/{plane}/accounts/{account}/regions/{region}/providers/{namespace}/{type}/{identifier}":
        GET Over(Read, Type, OnType("read")),
        PUT Over(Write, Type, OnType("write")),
        PATCH Over(Write, Type, OnType("write")),
        DELETE Over(Write, Type, OnType("delete"));
    "/planes/aws/{plane}/accounts/{account}/regions/{region}/providers/{namespace}/{type}/{identifier}/:whatIf":
        POST Over(Read, Type, OnType("whatIf/action"));
    "/planes/aws/{plane}/accounts/{account}/regions/{region}/providers/{namespace}/locations/global/operationResults/{id}":
        GET Authenticated;
    "/planes/aws/{plane}/accounts/{account}/regions/{region}/providers/{namespace}/locations/global/operationStatuses/{id}":
        GET Authenticated;
    "/planes/aws/{plane}/accounts/{account}/regions/{region}/providers/{namespace}/locations/global/operationStatuses/{id}/:cancel":
        POST Authenticated;
};

/// Looks up what a route needs. At the path base, Kubernetes asks what there is.
pub(super) fn find(route: &str, method: &Method, base: &PathBase) -> Entry {
    let asked = match method {
        &Method::HEAD => &Method::GET,
        other => other,
    };
    if !base.is_empty() && route == base.as_str() {
        return among(&[(Method::GET, Authenticated)], asked);
    }
    match ROUTES.iter().find(|(known, _)| *known == route) {
        Some((_, methods)) => among(methods, asked),
        None => Entry::Missing,
    }
}

fn among(methods: &[(Method, Need)], asked: &Method) -> Entry {
    match methods.iter().find(|(method, _)| method == asked) {
        Some((_, need)) => Entry::Needs(*need),
        None => {
            let allowed: Vec<&str> = methods
                .iter()
                .map(|(method, _)| match method {
                    &Method::GET => "GET,HEAD",
                    other => other.as_str(),
                })
                .collect();
            Entry::OtherMethods(allowed.join(","))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The routes of the API's description, with their methods.
    fn described() -> BTreeSet<(String, String)> {
        let document = serde_json::to_value(crate::openapi()).unwrap();
        let paths = document["paths"].as_object().unwrap();
        let routes = paths.iter().flat_map(|(route, operations)| {
            let methods = operations.as_object().unwrap().keys();
            let methods = methods.filter(|word| *word != "parameters");
            methods.map(|method| (route.clone(), method.to_uppercase()))
        });
        routes.collect()
    }

    #[test]
    fn every_route_declares_what_it_needs() {
        for (route, method) in described() {
            let asked = Method::from_bytes(method.as_bytes()).unwrap();
            let entry = find(&route, &asked, &PathBase::default());
            assert!(matches!(entry, Entry::Needs(_)), "{method} {route}");
        }
    }

    #[test]
    fn nothing_is_declared_for_what_is_not_served() {
        let described = described();
        for (route, methods) in ROUTES {
            let beside = ["/", "/docs", "/openapi"];
            let is_beside =
                *route == "/" || beside[1..].iter().any(|folder| route.starts_with(folder));
            for (method, _) in *methods {
                let place = (route.to_string(), method.to_string());
                assert!(described.contains(&place) || is_beside, "{method} {route}");
            }
        }
    }

    /// Only what says nothing of anybody's resources is public.
    #[test]
    fn what_is_below_planes_is_not_public() {
        for (route, methods) in ROUTES {
            for (method, need) in *methods {
                let is_read =
                    matches!(need, Over(Read | ManageAccess, ..)) || *need == Authenticated;
                if route.starts_with("/planes") {
                    assert_ne!(*need, Public, "{method} {route}");
                }
                assert!(
                    *need == Public || *method != Method::GET || is_read,
                    "{method} {route}"
                );
            }
        }
    }

    /// The caller is asked for before the route is matched.
    #[test]
    fn what_is_public_is_so_before_the_route_is_matched_too() {
        for (route, methods) in ROUTES {
            let path = route.replace(['{', '}', '*'], "");
            let is_public = methods.iter().all(|(_, need)| *need == Public);
            assert_eq!(
                crate::authentication::is_public(&path),
                is_public,
                "{route}"
            );
        }
    }

    #[test]
    fn a_route_appears_once() {
        let routes: BTreeSet<&str> = ROUTES.iter().map(|(route, _)| *route).collect();
        assert_eq!(routes.len(), ROUTES.len());
    }
}
