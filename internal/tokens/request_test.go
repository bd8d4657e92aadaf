package tokens

import (
	"errors"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

func TestRequests_AskForOneAudienceOfOneAccount(t *testing.T) {
	api := fake.NewClientset()
	var granted *int64
	var failure error
	var asked []clienttesting.CreateActionImpl
	api.PrependReactor("create", "serviceaccounts", func(a clienttesting.Action) (bool, runtime.Object, error) {
		asked = append(asked, a.(clienttesting.CreateActionImpl))
		return true, &authenticationv1.TokenRequest{
			Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: granted}, Status: authenticationv1.TokenRequestStatus{Token: "t"},
		}, failure
	})
	mint, err := Requests(api.CoreV1(), "system:serviceaccount:ops:sei")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		granted *int64
		want    time.Duration
	}{
		"as asked for": {nil, time.Hour}, "shorter": {new(int64(600)), 10 * time.Minute}, "longer": {new(int64(7200)), 2 * time.Hour},
	} {
		granted = c.granted
		if token, valid, err := mint(t.Context(), "aud"); token != "t" || valid != c.want || err != nil {
			t.Errorf("%s: %q, %s, %v, want token %q, valid %v and no error", name, token, valid, err, "t", c.want)
		}
	}
	request := asked[0].Object.(*authenticationv1.TokenRequest)
	if asked[0].Namespace != "ops" || asked[0].Name != "sei" || asked[0].Subresource != "token" ||
		len(request.Spec.Audiences) != 1 || request.Spec.Audiences[0] != "aud" || *request.Spec.ExpirationSeconds != 3600 {
		t.Errorf("asked for %+v", asked[0])
	}
	failure = errors.New("forbidden")
	if _, _, err := mint(t.Context(), "aud"); !errors.Is(err, failure) || !strings.Contains(err.Error(), "ops/sei") {
		t.Errorf("%v, want %v and %q in it", err, failure, "ops/sei")
	}
}

func TestRequests_SubjectOfNoServiceAccount_IsRefused(t *testing.T) {
	for _, subject := range []string{"", "admin", "system:serviceaccount:", "system:serviceaccount:ops", "system:serviceaccount::sei", "ops:sei"} {
		if _, err := Requests(fake.NewClientset().CoreV1(), subject); err == nil {
			t.Errorf("%q is taken for a service account", subject)
		}
	}
}
