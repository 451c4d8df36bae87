//! Values with names in `((…))`.

use serde_json::{Map, Value, json};
use ucp_model::pointer::PointerBuf;
use ucp_model::{excerpt, pointer};
use ucp_schema::{reserved_member, unknown};
use ucp_set::CONCAT_PARTS_MAX;

use crate::context::{Attribute, Context, Randoms};
use crate::problem::Problems;
use crate::resource::{Head, Owner};
use crate::source::{Content, Member, Node};

/// What `((…))` stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Name {
    Context(Attribute),
    Parameter(String),
    Random(String),
    /// A place in the live properties of a resource.
    Property {
        /// The index of the resource.
        resource: usize,
        pointer: String,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Part {
    Text(String),
    Name(Name),
}

/// A value of a file, whose texts may have names in them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Template {
    Literal(Value),
    /// A name alone, which keeps its type.
    Alone(Name),
    Text(Vec<Part>),
    Object(Vec<(String, Template)>),
    List(Vec<Template>),
}

/// Where a name is used.
#[derive(Clone, Debug)]
pub(crate) struct Use {
    pub(crate) name: Name,
    pub(crate) line: usize,
    /// The place in the properties, with indexes of lists.
    pub(crate) path: Vec<String>,
}

/// The names that a template may have.
#[derive(Clone, Copy)]
pub(crate) struct Scope<'a> {
    pub(crate) heads: &'a [Head],
    pub(crate) owner: Owner,
    /// The names of parameters, with whose they are.
    pub(crate) parameters: &'a [(String, Owner)],
    pub(crate) expires: bool,
}

impl Scope<'_> {
    fn name(&self, text: &str) -> Result<Option<Name>, String> {
        let is_of_binding = self.owner == Owner::Binding;
        let unknown = |why: &str| Err(format!("`(({}))` is unknown: {why}", excerpt(text)));
        if let Some(attribute) = Attribute::named(text) {
            return match attribute {
                Attribute::BindingId if !is_of_binding => {
                    unknown("only what is in `binding` has a binding")
                }
                Attribute::ExpiresAt if !is_of_binding => {
                    unknown("only what is in `binding` expires")
                }
                Attribute::ExpiresAt if !self.expires => {
                    unknown("the binding does not expire; give it `expires_after`")
                }
                attribute => Ok(Some(Name::Context(attribute))),
            };
        }
        let Some((first, rest)) = text.split_once('/') else {
            return if self.heads.iter().any(|head| head.name == text) {
                unknown("say which property of the resource, as in `((bucket/Arn))`")
            } else {
                unknown(
                    "a name is resource/Path, parameters/x, random/x, instance_id, binding_id, organization_guid, space_guid, platform, account, region or expires_at",
                )
            };
        };
        match first {
            "parameters" => {
                let found = self.parameters.iter().find(|(name, _)| name == rest);
                match found {
                    None => unknown("there is no such parameter"),
                    Some((_, Owner::Binding)) if !is_of_binding => {
                        unknown("it is a parameter of bindings, and this is not in `binding`")
                    }
                    Some(_) => Ok(Some(Name::Parameter(rest.to_owned()))),
                }
            }
            "random" if is_word(rest) => Ok(Some(Name::Random(rest.to_owned()))),
            "random" => unknown("the name of a random text has letters, digits, - and _"),
            _ => self.property(text, first, rest),
        }
    }

    /// Returns the name of a property. `None` if something else is wrong with the resource.
    fn property(&self, text: &str, resource: &str, path: &str) -> Result<Option<Name>, String> {
        let unknown = |why: &str| Err(format!("`(({}))` is unknown: {why}", excerpt(text)));
        let found = self.heads.iter().position(|head| head.name == resource);
        let Some(index) = found else {
            return unknown("there is no such resource");
        };
        let head = &self.heads[index];
        if head.owner == Owner::Binding && self.owner == Owner::Instance {
            return unknown("it is a resource of bindings, and this is not in `binding`");
        }
        let Some(schema) = &head.schema else {
            return Ok(None);
        };
        let pointer = path
            .split('/')
            .fold(String::new(), |above, name| pointer::join(&above, name));
        let parsed = PointerBuf::parse(pointer.clone());
        let objection = match &parsed {
            Ok(parsed) => ucp_set::objection(schema, parsed).map(|(_, message)| message),
            Err(_) => Some("it is not a place".to_owned()),
        };
        match objection {
            Some(why) => Err(format!("`(({}))`: {why}", excerpt(text))),
            None => Ok(Some(Name::Property {
                resource: index,
                pointer,
            })),
        }
    }
}

/// Returns whether a text has only letters, digits, `-` and `_`.
pub(crate) fn is_word(text: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    !text.is_empty() && text.len() <= 64 && text.bytes().all(is_letter)
}

/// A reading of templates, and the names in them.
pub(crate) struct Reading<'a, 'p> {
    pub(crate) scope: Scope<'a>,
    pub(crate) uses: Vec<Use>,
    pub(crate) problems: &'p mut Problems,
    pub(crate) path: Vec<String>,
}

impl<'a, 'p> Reading<'a, 'p> {
    pub(crate) fn new(scope: Scope<'a>, problems: &'p mut Problems) -> Self {
        Self {
            scope,
            uses: Vec::new(),
            problems,
            path: Vec::new(),
        }
    }

    /// Tells of members that make an object stand for another value.
    pub(crate) fn refuse_reserved(&mut self, members: &[Member]) {
        if let Some(name) = reserved_member(&shallow(members)) {
            let line = members.iter().find(|member| member.name == name);
            let message =
                format!("`{name}` is not written in files: write `((resource/Path))` instead");
            self.problems
                .add(line.map_or(1, |member| member.line), message);
        }
    }

    /// Reads the members of a table.
    pub(crate) fn members(&mut self, members: &[Member]) -> Vec<(String, Template)> {
        self.refuse_reserved(members);
        let members = members.iter().map(|member| {
            self.path.push(member.name.clone());
            let template = self.value(&member.node);
            self.path.pop();
            (member.name.clone(), template)
        });
        members.collect()
    }

    pub(crate) fn value(&mut self, node: &Node) -> Template {
        match &node.content {
            Content::Scalar(Value::String(text)) => self.text(text, node.line),
            Content::Scalar(value) => Template::Literal(value.clone()),
            Content::List(elements) => {
                let elements = elements.iter().enumerate().map(|(index, element)| {
                    self.path.push(index.to_string());
                    let template = self.value(element);
                    self.path.pop();
                    template
                });
                Template::List(elements.collect()).folded()
            }
            Content::Table(members) => Template::Object(self.members(members)).folded(),
        }
    }

    fn text(&mut self, text: &str, line: usize) -> Template {
        let mut parts: Vec<Part> = Vec::new();
        let mut literal = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("((") {
            literal.push_str(before);
            // `((!` is how two brackets are written that are only brackets.
            if let Some(after) = after.strip_prefix('!') {
                literal.push_str("((");
                rest = after;
                continue;
            }
            let Some((name, after)) = after.split_once("))") else {
                let message =
                    "`((` is not closed by `))`. Write `((!` for two brackets that are no name";
                self.problems.add(line, message);
                return Template::Text(Vec::new());
            };
            rest = after;
            match self.scope.name(name) {
                Ok(Some(name)) => {
                    self.uses.push(Use {
                        name: name.clone(),
                        line,
                        path: self.path.clone(),
                    });
                    if !literal.is_empty() {
                        parts.push(Part::Text(std::mem::take(&mut literal)));
                    }
                    parts.push(Part::Name(name));
                }
                Ok(None) => {}
                Err(message) => self.problems.add(line, message),
            }
        }
        literal.push_str(rest);
        if !literal.is_empty() {
            parts.push(Part::Text(literal));
        }
        if parts.len() > CONCAT_PARTS_MAX {
            let message = format!(
                "a text has at most {CONCAT_PARTS_MAX} parts: names, and what is between them"
            );
            self.problems.add(line, message);
        }
        match parts.as_slice() {
            [] => Template::Literal(Value::from("")),
            [Part::Text(text)] => Template::Literal(Value::from(text.as_str())),
            [Part::Name(name)] => Template::Alone(name.clone()),
            _ => Template::Text(parts),
        }
    }
}

fn shallow(members: &[Member]) -> Map<String, Value> {
    let names = members.iter().map(|member| member.name.as_str());
    let reserved = names.filter(|name| name.starts_with('$'));
    reserved
        .map(|name| (name.to_owned(), Value::Null))
        .collect()
}

impl Template {
    /// Makes it a literal if it has no names.
    fn folded(self) -> Self {
        let is_literal = |template: &Self| matches!(template, Self::Literal(_));
        match self {
            Self::Object(members) if members.iter().all(|(_, member)| is_literal(member)) => {
                let members = members.into_iter();
                let members =
                    members.filter_map(|(name, member)| Some((name, member.into_literal()?)));
                Self::Literal(Value::Object(members.collect()))
            }
            Self::List(elements) if elements.iter().all(is_literal) => {
                let elements = elements.into_iter().filter_map(Self::into_literal);
                Self::Literal(Value::Array(elements.collect()))
            }
            other => other,
        }
    }

    fn into_literal(self) -> Option<Value> {
        match self {
            Self::Literal(value) => Some(value),
            Self::Alone(_) | Self::Text(_) | Self::Object(_) | Self::List(_) => None,
        }
    }
}

/// A value that the caller has to give is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfilled {
    /// The name in `((…))`.
    pub name: String,
}

impl std::fmt::Display for Unfilled {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "no value was given for (({}))", self.name)
    }
}

impl std::error::Error for Unfilled {}

/// The values of names.
#[derive(Clone, Copy)]
pub(crate) struct Values<'a> {
    pub(crate) heads: &'a [Head],
    pub(crate) context: &'a Context,
    pub(crate) parameters: &'a Map<String, Value>,
    pub(crate) randoms: &'a Randoms,
}

impl Values<'_> {
    /// Returns a template with the values of its names. `None` for a text with a name that has none: its member goes.
    pub(crate) fn fill(&self, template: &Template) -> Result<Option<Value>, Unfilled> {
        match template {
            Template::Literal(value) => Ok(Some(value.clone())),
            Template::Alone(name) => self.value(name),
            Template::Text(parts) => self.text(parts),
            Template::Object(members) => Ok(Some(Value::Object(self.members(members)?))),
            Template::List(elements) => {
                let elements = elements.iter().map(|element| self.fill(element));
                let elements = elements.filter_map(Result::transpose);
                Ok(Some(Value::Array(elements.collect::<Result<_, _>>()?)))
            }
        }
    }

    pub(crate) fn members(
        &self,
        members: &[(String, Template)],
    ) -> Result<Map<String, Value>, Unfilled> {
        let members = members.iter().map(|(name, member)| {
            let value = self.fill(member)?;
            Ok(value.map(|value| (name.clone(), value)))
        });
        members.filter_map(Result::transpose).collect()
    }

    fn value(&self, name: &Name) -> Result<Option<Value>, Unfilled> {
        let text = |text: Option<&str>, name: &dyn Fn() -> String| match text {
            Some(text) => Ok(Some(Value::from(text))),
            None => Err(Unfilled { name: name() }),
        };
        match name {
            Name::Context(attribute) => text(self.context.value(*attribute), &|| {
                attribute.name().to_owned()
            }),
            Name::Random(name) => {
                let random = self.randoms.0.get(name).map(String::as_str);
                text(random, &|| format!("random/{name}"))
            }
            Name::Parameter(name) => {
                let value = self.parameters.get(name);
                Ok(value.filter(|value| !value.is_null()).cloned())
            }
            Name::Property { resource, pointer } => Ok(self.reference(*resource, pointer)),
        }
    }

    fn reference(&self, resource: usize, pointer: &str) -> Option<Value> {
        let head = &self.heads[resource];
        let type_name = head.schema.as_ref()?.type_name().arm();
        let alias = head.alias(self.context);
        Some(json!({ "$reference": format!("{type_name}/{alias}#{pointer}") }))
    }

    fn text(&self, parts: &[Part]) -> Result<Option<Value>, Unfilled> {
        let mut filled: Vec<Value> = Vec::new();
        for part in parts {
            let value = match part {
                Part::Text(text) => Some(Value::from(text.as_str())),
                Part::Name(name) => self.value(name)?,
            };
            let is_reference = matches!(part, Part::Name(Name::Property { .. }));
            let Some(value) = value else { return Ok(None) };
            let value = match value {
                Value::String(_) => value,
                value if is_reference => value,
                other => Value::from(other.to_string()),
            };
            match (filled.last_mut(), value) {
                (Some(Value::String(last)), Value::String(text)) => last.push_str(&text),
                (_, value) => filled.push(value),
            }
        }
        Ok(Some(match filled.as_mut_slice() {
            [] => Value::from(""),
            [Value::String(text)] => Value::from(std::mem::take(text)),
            _ => json!({ "$concat": filled }),
        }))
    }
}

impl Template {
    /// Returns it with unknown values in place of texts with names.
    pub(crate) fn with_unknown(&self) -> Value {
        match self {
            Self::Literal(value) => value.clone(),
            Self::Alone(_) | Self::Text(_) => unknown(),
            Self::Object(members) => Value::Object(with_unknown(members)),
            Self::List(elements) => elements.iter().map(Self::with_unknown).collect(),
        }
    }
}

/// Returns members with unknown values in place of texts with names.
pub(crate) fn with_unknown(members: &[(String, Template)]) -> Map<String, Value> {
    let members = members.iter();
    members
        .map(|(name, member)| (name.clone(), member.with_unknown()))
        .collect()
}
