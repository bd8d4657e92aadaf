#!/usr/bin/env bash
# Makes the generated pages of docs/. Running it twice changes nothing.
set -euo pipefail
cd "$(dirname "$0")/.."

hack/tool.sh github.com/elastic/crd-ref-docs@v0.3.0 \
  --source-path=api/v1alpha1 \
  --config=hack/crd-ref-docs/config.yaml \
  --templates-dir=hack/crd-ref-docs/templates \
  --renderer=markdown \
  --log-level=ERROR \
  --output-path=docs/reference/api.md
go run ./internal/metrics/gendocs
go run ./internal/reasons/gendocs
go run ./internal/messages/gendocs
go test ./internal/events ./internal/cli ./cmd/manager -run Docs -count=1 -update >/dev/null
go test ./test/monitoring -run Docs -count=1 -update >/dev/null
go test ./internal/seid/config -run KeyReference -count=1 -update >/dev/null
go test ./test/security -run Docs -count=1 -update >/dev/null
