// Package clients runs armresources of azure-sdk-for-go, unmodified, against ucp: resources by id. Its pollers refuse a
// server that does not speak TLS, and its credential too.
package clients

import (
	"context"
	"errors"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/resources/armresources/v3"
)

const (
	version = "2023-10-01-preview"
	id      = "/planes/aws/aws/accounts/123456789012/regions/us-west-2/providers/AWS.Logs/LogGroup/go"
)

// token is a credential that has one token.
type token string

func (t token) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: string(t), ExpiresOn: time.Now().Add(time.Hour)}, nil
}

func client(t *testing.T, credential token) *armresources.Client {
	endpoint := os.Getenv("UCP_URL")
	options := arm.ClientOptions{DisableRPRegistration: true}
	options.Cloud = cloud.Configuration{Services: map[cloud.ServiceName]cloud.ServiceConfiguration{
		cloud.ResourceManager: {Endpoint: endpoint, Audience: "ucp"},
	}}
	options.Retry = policy.RetryOptions{MaxRetries: -1}
	client, err := armresources.NewClient("local", credential, &options)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func TestResourcesByID(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	client := client(t, token(os.Getenv("UCP_TOKEN")))
	often := &runtime.PollUntilDoneOptions{Frequency: time.Second}
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	retention := func(days int) armresources.GenericResource {
		return armresources.GenericResource{Properties: map[string]any{"RetentionInDays": days}}
	}
	expect := func(resource armresources.GenericResource, days int) {
		t.Helper()
		properties, _ := resource.Properties.(map[string]any)
		if *resource.ID != id || properties["RetentionInDays"] != float64(days) {
			t.Fatalf("%s: %v", *resource.ID, properties)
		}
	}
	exists := func() bool {
		t.Helper()
		reply, err := client.CheckExistenceByID(ctx, id, version, nil)
		check(err)
		return reply.Success
	}

	if exists() {
		t.Fatal("it exists")
	}
	for _, days := range []int{7, 14} {
		poller, err := client.BeginCreateOrUpdateByID(ctx, id, version, retention(days), nil)
		check(err)
		put, err := poller.PollUntilDone(ctx, often)
		check(err)
		expect(put.GenericResource, days)
	}
	got, err := client.GetByID(ctx, id, version, nil)
	check(err)
	expect(got.GenericResource, 14)
	updating, err := client.BeginUpdateByID(ctx, id, version, retention(30), nil)
	check(err)
	updated, err := updating.PollUntilDone(ctx, often)
	check(err)
	expect(updated.GenericResource, 30)
	if !exists() {
		t.Fatal("it does not exist")
	}
	deleting, err := client.BeginDeleteByID(ctx, id, version, nil)
	check(err)
	_, err = deleting.PollUntilDone(ctx, often)
	check(err)
	if exists() {
		t.Fatal("it still exists")
	}
}

func TestAWrongTokenIsAnError(t *testing.T) {
	_, err := client(t, "wrong").GetByID(context.Background(), id, version, nil)
	var response *azcore.ResponseError
	if !errors.As(err, &response) {
		t.Fatal(err)
	}
	if response.StatusCode != http.StatusUnauthorized || response.ErrorCode != "AuthenticationFailed" {
		t.Fatal(err)
	}
}
