package tracing

import (
	"cmp"
	"context"
	"fmt"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
)

// Start begins to export if the environment asks for it; else the tracer is nil, which
// does nothing. Call stop at the end: it sends what is left.
//
// The exporter reads addresses, headers and certificates from the environment by
// itself, as OpenTelemetry specifies.
func Start(ctx context.Context, getenv func(string) string, logger logr.Logger, version string) (t *Tracer, stop func(context.Context) error, err error) {
	nothing := func(context.Context) error { return nil }
	if !wanted(getenv) {
		return nil, nothing, nil
	}
	exporter, err := newExporter(ctx, getenv)
	if err != nil {
		return nil, nothing, err
	}
	// What the environment says about the service goes before what we know.
	about, err := resource.New(ctx,
		resource.WithTelemetrySDK(),
		resource.WithAttributes(semconv.ServiceName("sei-operator"), semconv.ServiceVersion(version)),
		resource.WithFromEnv())
	if err != nil {
		return nil, nothing, fmt.Errorf("reading OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { logger.Error(err, "exporting traces") }))
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(about))
	return New(provider), provider.Shutdown, nil
}

// wanted reports whether a receiver is named and nothing says that there should be none.
func wanted(getenv func(string) string) bool {
	if getenv("OTEL_SDK_DISABLED") == "true" || getenv("OTEL_TRACES_EXPORTER") == "none" {
		return false
	}
	return getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") != ""
}

func newExporter(ctx context.Context, getenv func(string) string) (*otlptrace.Exporter, error) {
	protocol := cmp.Or(getenv("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"), getenv("OTEL_EXPORTER_OTLP_PROTOCOL"), "http/protobuf")
	var client otlptrace.Client
	switch protocol {
	case "http/protobuf":
		client = otlptracehttp.NewClient()
	case "grpc":
		client = otlptracegrpc.NewClient()
	default:
		return nil, fmt.Errorf("reading OTEL_EXPORTER_OTLP_PROTOCOL: %q is neither http/protobuf nor grpc", protocol)
	}
	exporter, err := otlptrace.New(ctx, client)
	if err != nil {
		return nil, fmt.Errorf("starting to export traces: %w", err)
	}
	return exporter, nil
}
