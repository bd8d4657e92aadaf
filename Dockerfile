# Images for those who build with Docker. make release makes the same ones without it, and make images those of the
# local cluster.
#   docker build --target sidecar -t REGISTRY/sidecar:TAG --build-arg GO_IMAGE=... --build-arg VERSION=TAG .
#   docker build --target manager -t REGISTRY/manager:TAG --build-arg GO_IMAGE=... --build-arg VERSION=TAG \
#     --build-arg SIDECAR_IMAGE=REGISTRY/sidecar:TAG .
# For several platforms: docker buildx build --platform linux/amd64,linux/arm64 ...
#
# GO_IMAGE is an image with the Go version of go.mod, by digest: HOST/golang@sha256:... It has no default, because what
# a tag means changes.
ARG GO_IMAGE

FROM --platform=$BUILDPLATFORM ${GO_IMAGE} AS build
ARG GO_IMAGE
RUN case "$GO_IMAGE" in *@sha256:*) ;; *) echo "GO_IMAGE=$GO_IMAGE is not named by digest: write HOST/NAME@sha256:..." >&2; exit 1 ;; esac
WORKDIR /src
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod go mod download
COPY api api
COPY cmd cmd
COPY internal internal
ARG TARGETOS
ARG TARGETARCH
ARG VERSION=dev
# The sidecar that the operator gives to nodes, with its registry.
ARG SIDECAR_IMAGE=localhost/sei-operator/sidecar:dev
# Static, so that the images need nothing else, and the sidecar runs in any image with seid.
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH \
    go build -trimpath -ldflags "-s -w -X main.version=$VERSION -X github.com/sei-operator/sei-operator/internal/platform.DefaultSidecarImage=$SIDECAR_IMAGE" -o /out/ ./cmd/manager ./cmd/sidecar ./cmd/sidecar-storage

FROM scratch AS sidecar
COPY --from=build /out/sidecar /out/sidecar-storage /
USER 65532:65532
ENTRYPOINT ["/sidecar"]

# The certificates are for AWS, which peer sources of type ec2Tags ask.
FROM scratch AS manager
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /out/manager /manager
USER 65532:65532
ENTRYPOINT ["/manager"]
