package tokens

import (
	"context"
	"fmt"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
)

// lifetime is how long a token should be valid. The API server may give another one.
const lifetime = time.Hour

// subjectPrefix begins the subject of every service-account token.
const subjectPrefix = "system:serviceaccount:"

// Requests mints tokens of a service account by asking the API server for them. subject is that of
// the account: system:serviceaccount:NAMESPACE:NAME.
func Requests(api corev1client.ServiceAccountsGetter, subject string) (Mint, error) {
	namespace, name, ok := strings.Cut(strings.TrimPrefix(subject, subjectPrefix), ":")
	if !ok || !strings.HasPrefix(subject, subjectPrefix) || namespace == "" || name == "" {
		return nil, fmt.Errorf("asking for tokens: %q is the subject of no service account", subject)
	}
	accounts := api.ServiceAccounts(namespace)
	return func(ctx context.Context, audience string) (string, time.Duration, error) {
		answer, err := accounts.CreateToken(ctx, name, &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
			Audiences: []string{audience}, ExpirationSeconds: new(int64(lifetime / time.Second)),
		}}, metav1.CreateOptions{})
		if err != nil {
			return "", 0, fmt.Errorf("asking for a token of service account %s/%s: %w", namespace, name, err)
		}
		valid := lifetime
		if granted := answer.Spec.ExpirationSeconds; granted != nil {
			valid = time.Duration(*granted) * time.Second
		}
		return answer.Status.Token, valid, nil
	}, nil
}
