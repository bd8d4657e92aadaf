# Every target has one line of help after '##'. Tools and binaries are built once, by version, into .cache.
SHELL := /usr/bin/env bash
.DEFAULT_GOAL := help

# Kubernetes of the tests and of `make up`: 1.37.1, 1.36.3 or 1.34.4.
K8S_VERSION ?= 1.37.1
export K8S_VERSION

# Tests, images and the embedded Kubernetes are compiled with the same flags, so that Go compiles a package for all of
# them at once.
export CGO_ENABLED := 0
export GOFLAGS := $(strip $(filter-out -trimpath,$(shell go env GOFLAGS)) -trimpath)

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -s -w -X main.version=$(VERSION)

CONTROLLER_GEN := hack/tool.sh sigs.k8s.io/controller-tools/cmd/controller-gen@v0.23.0
GOLANGCI_LINT  := hack/tool.sh github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.14.0
ACTIONLINT     := hack/tool.sh github.com/rhysd/actionlint/cmd/actionlint@v1.7.12
GOTESTSUM      := hack/tool.sh gotest.tools/gotestsum@v1.13.0 --format pkgname-and-test-fails --hide-summary=output
# Of tests with real processes up to three that failed are run once more, one by one: what fails only beside others judges
# the machine. The end of `make test` names them.
REPEATED       := $(GOTESTSUM) --rerun-fails=1 --rerun-fails-max-failures=3 --rerun-fails-run-root-test --rerun-fails-report=$(CURDIR)/.cache/repeated.txt

UNIT      = $(shell go list ./... 2>/dev/null | grep -vE '/test/(envtest|fault|sidecar|e2e|monitoring)')
# Inputs per fuzz target. A time, as in 30s, may end with "context deadline exceeded" (golang/go#75804, fixed in Go 1.27).
FUZZTIME ?= 10000x
# How many runs of a scenario stand side by side.
FAULT_WORLDS ?= 8
# How many random walks `make fault` and `make walk` make, and from which seed on.
WALKS     ?= 300
WALK_SEED ?= 1
# For how long `make chaos` disturbs.
CHAOS_LENGTH ?= 10m

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-zA-Z0-9_-]+:.*## / {printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

##@ Build
.PHONY: build
build: ## Build the manager, the sidecar and the kubectl plugin into bin/
	CGO_ENABLED=0 go build -trimpath -ldflags "$(LDFLAGS)" -o bin/ ./cmd/...

.PHONY: generate
generate: ## Generate deep copies
	$(CONTROLLER_GEN) object:headerFile=hack/boilerplate.go.txt paths=./api/...

.PHONY: manifests
manifests: ## Generate the CRDs and the manager's role, and the chart's copies of config/
	$(CONTROLLER_GEN) crd:headerFile=hack/boilerplate.go.txt,generateEmbeddedObjectMeta=true paths=./api/... output:crd:dir=config/crd
	$(CONTROLLER_GEN) rbac:roleName=sei-operator,headerFile=hack/boilerplate.yaml.txt paths=./internal/... paths=./cmd/... output:rbac:dir=config/rbac
	hack/chart.sh

.PHONY: docs
docs: ## Generate the reference pages in docs/
	@hack/docs.sh

.PHONY: site
site: ## Build the documentation as a site into .cache/site, and check its links
	@hack/site.sh

.PHONY: images
images: ## Build the container images without Docker
	@hack/images.sh

.PHONY: release
release: ## Build images, manifest, chart, plugin, SBOMs and provenance of VERSION for REGISTRY into dist/; ARGS=--twice
	@VERSION=$(if $(filter file,$(origin VERSION)),,$(VERSION)) hack/release.sh $(ARGS)

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

.PHONY: check
check: ## The fast lane: generated files, linters, and the tests that need no cluster
	@hack/test.sh generated lint unit

.PHONY: coverage
coverage: ## List how much of each package its own unit tests reach
	@hack/coverage.sh

.PHONY: test-unit
test-unit: ## Run the tests that need no cluster
	@hack/test.sh unit

.PHONY: test-monitoring
test-monitoring: ## Run promtool over the alerts and their cases
	@hack/test.sh monitoring

.PHONY: test-chart
test-chart: ## Compare the Helm chart with the manifests, and upgrade it on a real API server
	@hack/test.sh k8s chart

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
lint: lint-root lint-cluster lint-chart ## Run the linters over all modules, scripts and workflows

.PHONY: lint-cluster
lint-cluster:
	cd tools/cluster && ../../$(GOLANGCI_LINT) run -c ../../.golangci.yml --build-tags node ./...

.PHONY: lint-chart
lint-chart:
	cd test/chart && ../../$(GOLANGCI_LINT) run -c ../../.golangci.yml ./...

.PHONY: lint-root
lint-root:
	@hack/shellcheck.sh
	$(ACTIONLINT) .github/workflows/*.yaml
	$(GOLANGCI_LINT) run ./...
	cd tools/release && ../../$(GOLANGCI_LINT) run -c ../../.golangci.yml ./...

.PHONY: bench
bench: ## Measure the operator on the embedded control plane, for about two hours; ARGS="--parts load --nodes 100 --repeat 1" for less
	@hack/build-cluster.sh && go run ./test/bench $(ARGS)

# From within the package, so that the progress is shown.
.PHONY: fault
fault: ## Disturb the operator at every single one of its calls, and compare how things end
	@hack/fault.sh -test.parallel $(FAULT_WORLDS)
	@SCHEMA_FIELDS=0 FAULT_RECONCILES=50 go test -count=1 -parallel $(FAULT_WORLDS) -timeout 3h ./test/fault/schema
	@$(MAKE) --no-print-directory walk

.PHONY: walk
walk: ## Make WALKS random walks from WALK_SEED on; also a part of make fault
	@hack/build-cluster.sh && cd test/fault/walk && WALKS=$(WALKS) WALK_SEED=$(WALK_SEED) go test -count=1 -parallel $(FAULT_WORLDS) -timeout 6h

.PHONY: mutants
mutants: ## Make deliberate defects, one at a time, and look for a test that notices each
	@hack/build-cluster.sh && go run ./hack/mutants

.PHONY: e2e
e2e: ## Run the end-to-end tests on a real Kubernetes node
	@hack/test.sh e2e

# From within the package, so that the progress is shown. CHAOS_SEED repeats the steps of an earlier run.
.PHONY: chaos
chaos: ## Disturb a live network at random for CHAOS_LENGTH, and judge chain and operator; report in .cache/chaos
	@cd test/e2e && CHAOS_LENGTH=$(CHAOS_LENGTH) go test -count=1 -timeout 3h -run '^TestChaos_' -v

# From within the package, so that the progress is shown.
.PHONY: tutorial
tutorial: ## Run docs/tutorial.md on a cluster of its own, and write outputs that have changed and the pictures
	@cd test/e2e/tutorial && TUTORIAL=write go test -count=1 -timeout 60m -v

##@ Run
.PHONY: up
up: ## Start a local Kubernetes with the operator and a live Sei network; UP_CLUSTER=existing for the cluster of KUBECONFIG
	@hack/up.sh

.PHONY: cluster
cluster: ## Start a local Kubernetes that has the images, and nothing installed
	@UP_CLUSTER=local hack/up.sh --empty

.PHONY: dev
dev: ## Bring the code as it is into the cluster of make up
	@hack/dev.sh

.PHONY: run
run: ## Run the operator on this machine against the cluster of KUBECONFIG; ARGS for more flags
	@hack/run.sh $(ARGS)

.PHONY: install
install: ## Install the CRDs and roles into the cluster of KUBECONFIG
	@source hack/kubectl.sh && kubectl kustomize config/install | kubectl apply --server-side -f -

.PHONY: deploy
deploy: ## Install the operator with image IMG, and sidecar image SIDECAR_IMG, into the cluster of KUBECONFIG
	@hack/deploy.sh

.PHONY: down
down: ## Stop it and remove all traces
	@hack/down.sh

# The stages of `make test`, in the order of hack/test.sh.
.PHONY: stage-generated stage-site stage-lint stage-k8s stage-seid stage-unit stage-supply stage-vulnerabilities stage-monitoring stage-fuzz stage-chart stage-envtest stage-envtest-1.36 stage-fault stage-sidecar stage-cluster stage-e2e
stage-generated:
	@hack/verify-generated.sh
stage-site: site
# tools/cluster and test/chart are linted by their own stages, which compile them anyway.
stage-lint: lint-root
stage-k8s: k8s
stage-seid: seid
# go vet is left to the stage lint, which runs the same checks.
stage-unit:
	@CGO_ENABLED=1 $(GOTESTSUM) -- -race $(UNIT)
# Licences of what is shipped, and a release of a small project.
stage-supply:
	@set -o pipefail && source hack/retry.sh && cd tools/release && with_retries go list -deps -test ./... >/dev/null
	@cd tools/release && ../../$(GOTESTSUM) -- -count=1 ./...
stage-vulnerabilities:
	@hack/vulnerabilities.sh
stage-monitoring:
	@hack/prometheus.sh >/dev/null
	@$(GOTESTSUM) -- ./test/monitoring/...
stage-fuzz:
	@hack/fuzz.sh $(FUZZTIME)
# A module of its own, because of Helm. Its libraries of Kubernetes are those of the other tests, and compiled once. Go
# does not notice that files outside of the module changed, so results of an earlier run are not taken.
stage-chart:
	@hack/fetch-modules.sh test/chart
	@cd test/chart && ../../$(GOTESTSUM) -- -count=1 -timeout 20m ./...
	@$(MAKE) --no-print-directory lint-chart
stage-envtest:
	@ENVTEST_WAIT=3m ENVTEST_USES=$(CURDIR)/.cache/uses $(REPEATED) --packages='./test/envtest/... ./test/permissions/rare' -- -parallel 4 -timeout 40m
	@PERMISSIONS_USES=$(CURDIR)/.cache/uses $(GOTESTSUM) -- -count=1 -run '^TestRoles_EveryRuleIsUsed$$' ./test/permissions
# How StatefulSets are updated depends on the version of their controller, so what we promise about that (C7, C9) is tried
# with the one before, too. It alone is built: the API server may be a minor version newer.
stage-envtest-1.36:
ifdef KUBEBUILDER_ASSETS
	@echo "SKIPPED: KUBEBUILDER_ASSETS decides which Kubernetes runs"
else
	@bin=$$(K8S_VERSION=1.36.3 hack/build-cluster.sh --controller-manager) && \
		KUBE_CONTROLLER_MANAGER=$$bin/kube-controller-manager $(GOTESTSUM) -- -timeout 20m -run '^Test(C7|C9|StatefulSet)_' ./test/envtest/node ./test/envtest/podsim
endif
stage-fault:
	@rm -f .cache/fault-report.txt .cache/walk-report.txt .cache/schema-report.txt
	@$(GOTESTSUM) -- -count=1 -p 1 -parallel $(FAULT_WORLDS) -timeout 20m ./test/fault/... && result=0 || result=$$?; \
		for report in fault walk; do cat .cache/$$report-report.txt || true; done; tail -n 1 .cache/schema-report.txt || true; exit $$result
stage-sidecar:
	@$(REPEATED) --packages=./test/sidecar/... -- -timeout 30m
# Linted instead of vetted, or all of Kubernetes would be compiled again.
stage-cluster:
	@cd tools/cluster && ../../$(REPEATED) --packages=./... -- -count=1 -tags node -vet=off -timeout 20m
	@$(MAKE) --no-print-directory lint-cluster
# Ends with what the envtests and these have used of the operator's rights, or with why that is left out.
stage-e2e:
	@rm -f .cache/e2e-report.txt .cache/uses/e2e.json .cache/uses/report.txt
	@ENVTEST_USES=$(CURDIR)/.cache/uses $(REPEATED) --packages='./test/e2e ./test/e2e/tutorial' -- -count=1 -p 1 -parallel 3 -timeout 60m -skip '^TestChaos_' && result=0 || result=$$?; \
		if [ -e .cache/e2e-report.txt ]; then cat .cache/e2e-report.txt; ! grep -q '^FAILED' .cache/e2e-report.txt || result=1; fi; exit $$result
	@mkdir -p .cache/uses
	@PERMISSIONS_USES=$(CURDIR)/.cache/uses $(GOTESTSUM) -- -count=1 -run '^TestRoles_WithTheEndToEndTests_' ./test/permissions && result=0 || result=$$?; \
		if [ -e .cache/uses/report.txt ]; then head -n 1 .cache/uses/report.txt; fi; exit $$result
