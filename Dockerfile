# Images for those who publish them; the local cluster builds its own without a container engine (make images).
#   docker build --target manager -t REGISTRY/sei-operator/manager:TAG --build-arg VERSION=TAG .
#   docker build --target sidecar -t REGISTRY/sei-operator/sidecar:TAG --build-arg VERSION=TAG .
# For several platforms: docker buildx build --platform linux/amd64,linux/arm64 ...
ARG GO_VERSION=1.26

FROM --platform=$BUILDPLATFORM golang:${GO_VERSION} AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod go mod download
COPY api api
COPY cmd cmd
COPY internal internal
ARG TARGETOS
ARG TARGETARCH
ARG VERSION=dev
# Static, so that the images need nothing else, and the sidecar runs in any image with seid.
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH \
    go build -trimpath -ldflags "-s -w -X main.version=$VERSION" -o /out/ ./cmd/manager ./cmd/sidecar ./cmd/sidecar-storage

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
