package drivers

import (
	"context"
	"errors"
	"net"
	"strings"

	"gocloud.dev/gcerrors"

	"github.com/sei-operator/sei-operator/internal/objectstore"
)

// classify turns a driver's error into one of a bucket, once.
func classify(bucket, key, op string, err error) error {
	if _, done := errors.AsType[*objectstore.Error](err); done || errors.Is(err, context.Canceled) {
		return err
	}
	return &objectstore.Error{Kind: kindOf(err), Bucket: bucket, Key: key, Op: op, Err: err}
}

func kindOf(err error) objectstore.Kind {
	text := err.Error()
	if strings.Contains(text, "NoSuchBucket") || strings.Contains(text, "ContainerNotFound") {
		return objectstore.KindNoBucket
	}
	switch gcerrors.Code(err) {
	case gcerrors.NotFound:
		return objectstore.KindNotFound
	case gcerrors.PermissionDenied:
		return objectstore.KindDenied
	case gcerrors.InvalidArgument:
		return objectstore.KindInvalid
	case gcerrors.FailedPrecondition, gcerrors.AlreadyExists:
		return objectstore.KindExists
	case gcerrors.Unimplemented:
		return objectstore.KindUnsupported
	case gcerrors.ResourceExhausted, gcerrors.DeadlineExceeded:
		return objectstore.KindUnavailable
	default:
	}
	for _, word := range []string{"SlowDown", "ServiceUnavailable", "RequestTimeout", "InternalError", "ServerBusy"} {
		if strings.Contains(text, word) {
			return objectstore.KindUnavailable
		}
	}
	if strings.Contains(text, "NotImplemented") {
		return objectstore.KindUnsupported
	}
	if strings.Contains(text, "AccessDenied") || strings.Contains(text, "AuthorizationFailure") {
		return objectstore.KindDenied
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return objectstore.KindUnavailable
	}
	return objectstore.KindOther
}
