package live

import (
	"context"
	"errors"
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/internal/text"
)

// longestReason is how much is shown of what others say.
const longestReason = 160

// reason is why a pod did not answer, in few words.
func reason(err error) string {
	switch {
	case apierrors.IsForbidden(err):
		return "your account may not get pods/proxy"
	case errors.Is(err, context.DeadlineExceeded), apierrors.IsTimeout(err):
		return "no answer in time; a network policy may keep the API server out"
	}
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return words(statusText(status.Status()))
	}
	// What the client was asked for is known, and its address is made up.
	if call, ok := errors.AsType[*url.Error](err); ok {
		err = call.Err
	}
	return words(err.Error())
}

// statusText is what the proxy, or the pod behind it, has said. The message itself is the client's and tells
// little.
func statusText(status metav1.Status) string {
	if status.Details != nil {
		for _, cause := range status.Details.Causes {
			if cause.Type == metav1.CauseTypeUnexpectedServerResponse && cause.Message != "" && cause.Message != "unknown" {
				return cause.Message
			}
		}
	}
	return status.Message
}

func words(message string) string {
	return text.Shorten(strings.Join(strings.Fields(message), " "), longestReason)
}
