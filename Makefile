# Every target has one line of help after '##'. Tools and binaries are built once, by version, into .cache.
SHELL := /usr/bin/env bash
.DEFAULT_GOAL := help

# Kubernetes of the tests and of `make up`: 1.37.1, 1.36.3 or 1.34.4.
K8S_VERSION ?= 1.37.1
export K8S_VERSION

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -s -w -X main.version=$(VERSION)

CONTROLLER_GEN := hack/tool.sh sigs.k8s.io/controller-tools/cmd/controller-gen@v0.23.0
GOLANGCI_LINT  := hack/tool.sh github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.14.0
GOTESTSUM      := hack/tool.sh gotest.tools/gotestsum@v1.13.0 --format pkgname-and-test-fails --hide-summary=output

UNIT     := $(shell go list ./... 2>/dev/null | grep -vE '/test/(envtest|fault|sidecar|e2e|monitoring)')
FUZZTIME ?= 30s
# How many runs of a scenario stand side by side.
FAULT_WORLDS ?= 8

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-zA-Z0-9_-]+:.*## / {printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

##@ Build
.PHONY: build
build: ## Build the manager and the sidecar into bin/
	CGO_ENABLED=0 go build -trimpath -ldflags "$(LDFLAGS)" -o bin/ ./cmd/...

.PHONY: generate
generate: ## Generate deep copies
	$(CONTROLLER_GEN) object:headerFile=hack/boilerplate.go.txt paths=./api/...

.PHONY: manifests
manifests: ## Generate the CRDs and the manager's role
	$(CONTROLLER_GEN) crd:headerFile=hack/boilerplate.go.txt,generateEmbeddedObjectMeta=true paths=./api/... output:crd:dir=config/crd
	$(CONTROLLER_GEN) rbac:roleName=sei-operator,headerFile=hack/boilerplate.yaml.txt paths=./internal/... paths=./cmd/... output:rbac:dir=config/rbac

.PHONY: docs
docs: ## Generate the reference pages in docs/
	@hack/docs.sh

.PHONY: images
images: ## Build the container images without Docker
	@hack/images.sh

.PHONY: k8s
k8s: ## Build the embedded Kubernetes of K8S_VERSION
	@hack/build-cluster.sh

.PHONY: seid
seid: ## Build the real chain binary
	@hack/build-seid.sh

##@ Test
.PHONY: test
test: ## Run all tests; builds and installs what they need
	@hack/test.sh

.PHONY: test-unit
test-unit: ## Run the tests that need no cluster
	@hack/test.sh unit

.PHONY: test-monitoring
test-monitoring: ## Run promtool over the alerts and their cases
	@hack/test.sh monitoring

.PHONY: test-envtest
test-envtest: ## Run the tests against a real API server and StatefulSet controller
	@hack/test.sh k8s envtest

.PHONY: test-fault
test-fault: ## Disturb the operator at some of its calls, and compare how things end
	@hack/test.sh k8s fault

.PHONY: test-sidecar
test-sidecar: ## Run the sidecar with the real chain binary
	@hack/test.sh seid sidecar

.PHONY: lint
lint: ## Run the linters over all modules
	$(GOLANGCI_LINT) run ./...
	# Built as hack/build-cluster.sh builds it, or all of Kubernetes would be compiled again.
	cd tools/cluster && CGO_ENABLED=0 GOFLAGS=-trimpath ../../$(GOLANGCI_LINT) run -c ../../.golangci.yml --build-tags node ./...

.PHONY: bench
bench: ## Measure the operator with 100 and 500 nodes on the embedded control plane
	@hack/build-cluster.sh && go run ./test/bench --nodes 100,500

# From within the package, so that the progress is shown.
.PHONY: fault
fault: ## Disturb the operator at every single one of its calls, and compare how things end
	@hack/build-cluster.sh && cd test/fault && FAULT_RUNS=0 FAULT_RECONCILES=50 go test -count=1 -parallel $(FAULT_WORLDS) -timeout 6h

.PHONY: e2e
e2e: ## Run the end-to-end tests on a real Kubernetes node
	@hack/test.sh e2e

##@ Run
.PHONY: up
up: ## Start a local Kubernetes with the operator and a live Sei network
	@hack/up.sh

.PHONY: down
down: ## Stop it and remove all traces
	@hack/down.sh

# The stages of `make test`, in the order of hack/test.sh.
.PHONY: stage-generated stage-k8s stage-seid stage-unit stage-monitoring stage-fuzz stage-envtest stage-envtest-1.36 stage-fault stage-sidecar stage-cluster stage-e2e
stage-generated:
	@hack/verify-generated.sh
stage-k8s: k8s
stage-seid: seid
stage-unit:
	@go vet ./...
	@$(GOTESTSUM) -- -race $(UNIT)
stage-monitoring:
	@hack/prometheus.sh >/dev/null
	@$(GOTESTSUM) -- ./test/monitoring/...
stage-fuzz:
	@hack/fuzz.sh $(FUZZTIME)
stage-envtest:
	@ENVTEST_USES=$(CURDIR)/.cache/uses $(GOTESTSUM) -- -timeout 40m ./test/envtest/...
	@PERMISSIONS_USES=$(CURDIR)/.cache/uses $(GOTESTSUM) -- -count=1 ./test/permissions
# How StatefulSets are updated depends on the Kubernetes version, so what we promise about that (C7, C9) is tried on
# the one before, too.
stage-envtest-1.36: export K8S_VERSION := 1.36.3
stage-envtest-1.36:
	@hack/build-cluster.sh
	@$(GOTESTSUM) -- -timeout 20m -run '^Test(C7|C9|StatefulSet)_' ./test/envtest/...
stage-fault:
	@rm -f .cache/fault-report.txt
	@$(GOTESTSUM) -- -count=1 -parallel $(FAULT_WORLDS) -timeout 20m ./test/fault && result=0 || result=$$?; \
		if [ -e .cache/fault-report.txt ]; then cat .cache/fault-report.txt; fi; exit $$result
stage-sidecar:
	@$(GOTESTSUM) -- -timeout 30m ./test/sidecar/...
# Built as hack/build-cluster.sh builds it, and linted instead of vetted, or all of Kubernetes would be compiled again.
stage-cluster:
	@cd tools/cluster && CGO_ENABLED=0 GOFLAGS=-trimpath ../../$(GOTESTSUM) -- -count=1 -tags node -vet=off -timeout 20m ./...
stage-e2e:
	@rm -f .cache/e2e-report.txt
	@$(GOTESTSUM) -- -count=1 -parallel 3 -timeout 60m ./test/e2e && result=0 || result=$$?; \
		if [ -e .cache/e2e-report.txt ]; then cat .cache/e2e-report.txt; fi; exit $$result
