# Windlass: build it, run it, prove it. `make help` explains every target.
#
# Needs Go, GNU make and a POSIX system, and Node for the web console; nothing is fetched but Go modules and npm packages. All Go is
# built with the same flags, so that the modules and the tools share one build cache.

SHELL       := bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS   += --no-builtin-rules --no-print-directory
.DEFAULT_GOAL := build
.DELETE_ON_ERROR:

export CGO_ENABLED    := 0
# The programs are linked without DWARF. Without it in their packages, too, the first build is a sixth faster.
export GOFLAGS        := -trimpath -buildvcs=false -gcflags=all=-dwarf=false
export DEVCLUSTER_DIR := $(CURDIR)/.local/devcluster

# Arguments for `make bench`, as in: make bench BENCH="-scenario nodepool -nodes 1000"
BENCH ?=
# Arguments for `make bench-report`, as in: make bench-report GROWTH="-rounds 10"
GROWTH ?= -rounds 3
# Arguments for `make fault`, as in: make fault FAULT="-scenario nodepool/deleted -v"
FAULT ?=
# Arguments for `go test`, as in: make test TESTFLAGS="-run PodSet"
TESTFLAGS ?=

# -- Versions ----------------------------------------------------------------------------------------------------------------
# devcluster/go.mod says which Kubernetes, kwok and containerd this is; nothing else does.

VERSION      := $(shell git describe --tags --match 'v*' --dirty 2>/dev/null || echo v0.0.0-dev)
COMMIT       := $(shell git log -1 --format='-revision %H -created %ct' 2>/dev/null)
KUBE_VERSION := $(shell awk '$$1 == "k8s.io/kubernetes" { print $$2; exit }' devcluster/go.mod)
KWOK_VERSION := $(shell awk '$$1 == "sigs.k8s.io/kwok" { print $$2; exit }' devcluster/go.mod)
CONTAINERD_VERSION := $(shell awk '$$1 == "github.com/containerd/containerd/v2" { print $$2; exit }' devcluster/go.mod)
KUBE_NUMBERS := $(subst ., ,$(KUBE_VERSION:v%=%))

WINDLASS_LDFLAGS := -s -w \
	-X github.com/windlass-operator/windlass/internal/app.version=$(VERSION)
# grpcnotrace leaves out pages with traces of gRPC, which nobody serves here and which keep templates, and so every method, in the program.
WINDLASS_BUILD := go build -tags grpcnotrace -ldflags '$(WINDLASS_LDFLAGS)'
NODED_LDFLAGS := -s -w \
	-X github.com/containerd/containerd/v2/version.Version=$(CONTAINERD_VERSION:v%=%)
DEVCLUSTER_LDFLAGS := $(NODED_LDFLAGS) \
	-X k8s.io/component-base/version.gitVersion=$(KUBE_VERSION) \
	-X k8s.io/component-base/version.gitMajor=$(word 1,$(KUBE_NUMBERS)) \
	-X k8s.io/component-base/version.gitMinor=$(word 2,$(KUBE_NUMBERS)) \
	-X k8s.io/client-go/pkg/version.gitVersion=$(KUBE_VERSION) \
	-X sigs.k8s.io/kwok/pkg/consts.Version=$(KWOK_VERSION)

# -- What is made of what ----------------------------------------------------------------------------------------------------

MODULES            := . devcluster tools tools/chart tools/curves tools/monitoring tools/site release test/rke test/oidc test/kuberouter
sources             = $(shell find $(1) -type f ! -name '*_test.go' ! -name '*.md' ! -path '*/testdata/*' \
                      ! -path '*/console/dist/app/*' 2>/dev/null)
WINDLASS_SOURCES   := $(call sources,api cmd config internal) go.mod go.sum
DEVCLUSTER_SOURCES := $(call sources,devcluster)
KUBERNETES         := $(addprefix bin/k8s/,etcd kube-apiserver kube-controller-manager kube-scheduler kubectl kwok-controller kwokctl \
	containerd kubelet)

# The kubectl plugin, and what kubectl asks for the shell's completions.
PLUGIN             := $(addprefix bin/,kubectl-windlass kubectl_complete-windlass)

TOOL           := go tool -modfile='$(CURDIR)/tools/go.mod'
CONTROLLER_GEN := $(TOOL) controller-gen
LINT           := $(TOOL) golangci-lint

##@ Use

.PHONY: build
build: bin/windlass $(PLUGIN) bin/devcluster bin/noded $(KUBERNETES) ## Build the operator and a whole Kubernetes into bin/ (the default).

bin/windlass: $(WINDLASS_SOURCES) bin/.console bin/.version
	$(WINDLASS_BUILD) -o $@ ./cmd/windlass

# The console, which the program contains. Looked at every time, built only when something changed; without Node, or where its source is
# not, it is left out.
bin/.console: always
	@[[ ! -e web ]] || web/build/make

# Everything that Kubernetes is, in one program. From nothing this takes ten minutes on two cores, afterwards seconds.
bin/devcluster: $(DEVCLUSTER_SOURCES)
	@echo 'building Kubernetes $(KUBE_VERSION) into $@; the first time takes some minutes'
	go build -C devcluster -ldflags '$(DEVCLUSTER_LDFLAGS)' -o ../$@ .

# The small programs of a real node, which every pod runs a copy of. Only Linux has real nodes, but the rule is for all.
bin/noded: $(DEVCLUSTER_SOURCES)
	GOOS=linux go build -C devcluster -ldflags '$(NODED_LDFLAGS)' -o ../$@ ./noded

# The real RKE, which one test runs and nothing else needs: a minute from nothing. Without it that test is skipped.
bin/rke: $(call sources,test/rke)
	go build -C test/rke -o ../../$@ .

# The real OpenID provider that tests log in at: seconds. Without it those tests are skipped.
bin/oidc: $(call sources,test/oidc)
	go build -C test/oidc -o ../../$@ .

# The controller of kube-router, which enforces NetworkPolicies in one test: a minute from nothing. Without it that step is skipped.
bin/kuberouter: $(call sources,test/kuberouter)
	go build -C test/kuberouter -o ../../$@ .

# Helm itself, with which a test installs the chart: two minutes from nothing. Without it that test is skipped.
bin/helm: tools/chart/go.mod tools/chart/go.sum
	go build -C tools/chart -o ../../$@ helm.sh/helm/v3/cmd/helm

# The same programs under their other names, which is how they know what to be.
$(PLUGIN): | bin/windlass
	ln -sf windlass $@

$(KUBERNETES): | bin/devcluster
	@mkdir -p $(@D)
	ln -sf ../devcluster $@

# Looked at every time, written only when the version is another: then bin/windlass is linked again.
bin/.version: always
	@mkdir -p $(@D)
	@[[ "$$(cat $@ 2>/dev/null)" == '$(VERSION)' ]] || echo '$(VERSION)' > $@

.PHONY: run
run: build ## Run everything here: local cluster, samples, operator with its log. DOCKER=1 runs VirtualMachines in Docker, SHOWCASE=0 leaves out the showcase.
	@'$(CURDIR)/config/local/run'

PLATFORMS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64

# The program for a platform, such as dist/programs/linux-arm64, as a word of make and as an argument.
programs   = $(addprefix dist/programs/,$(subst /,-,$(1)))
program_on = $(foreach on,$(1),$(on)=$(call programs,$(on)))

dist/programs/%: $(WINDLASS_SOURCES) bin/.console bin/.version
	@mkdir -p $(@D)
	GOOS=$(word 1,$(subst -, ,$*)) GOARCH=$(word 2,$(subst -, ,$*)) $(WINDLASS_BUILD) -o $@ ./cmd/windlass

.PHONY: krew
krew: $(call programs,$(PLATFORMS)) ## Pack the kubectl plugin for krew into dist/: an archive for each platform, and the manifest with their checksums.
	@go run ./test/krew -version '$(VERSION)' -out dist $(call program_on,$(PLATFORMS))

# The name of the image that make image writes, which config/ has too, and the platforms that it is for.
IMAGE           ?= windlass:dev
IMAGE_PLATFORMS ?= linux/amd64 linux/arm64
# What make image-tools puts beside the program, for the platforms of IMAGE_PLATFORMS that it is built for.
TOOLS           ?= $(shell go env GOOS)/$(shell go env GOARCH)=bin/rke

# Packs what is published.
bin/release: $(call sources,release)
	go build -C release -o ../$@ .

release_of  = -version '$(VERSION)' $(COMMIT)
release_npm = $(if $(wildcard internal/gateway/console/dist/app/index.html),-npm web/package-lock.json)

.PHONY: image
image: bin/release $(call programs,$(IMAGE_PLATFORMS)) ## Write the image windlass:dev into dist/images/, without an engine. IMAGE="…:tag" names it otherwise.
	@bin/release image $(release_of) $(release_npm) -ref '$(IMAGE)' -out dist/images/windlass $(call program_on,$(IMAGE_PLATFORMS))

.PHONY: image-tools
image-tools: IMAGE_PLATFORMS = $(foreach tool,$(TOOLS),$(firstword $(subst =, ,$(tool))))
image-tools: bin/release $(if $(findstring =bin/rke,$(TOOLS)),bin/rke) ## Write the image windlass-tools:dev, which has RKE beside windlass. TOOLS="os/arch=program …" takes others.
	@$(MAKE) $(call programs,$(IMAGE_PLATFORMS))
	@bin/release image $(release_of) $(release_npm) -title windlass-tools -ref windlass-tools:dev -out dist/images/windlass-tools $(addprefix -beside ,$(TOOLS)) $(call program_on,$(IMAGE_PLATFORMS))

# What make dist writes, and where the images will be found.
RELEASE  := dist/release
REGISTRY ?= ghcr.io/windlass-operator
since     = $(shell git describe --tags --abbrev=0 --match 'v*' HEAD^ 2>/dev/null)

# A release without the console would look whole.
dist: export WINDLASS_BUILD_CONSOLE := required
.PHONY: dist
dist: bin/release bin/k8s/kubectl $(call programs,$(PLATFORMS)) ## Write everything that a release consists of into dist/release. The same commit gives the same bytes.
	@rm -rf $(RELEASE) && mkdir -p $(RELEASE)
	@bin/release archive $(release_of) $(release_npm) -out $(RELEASE) $(call program_on,$(PLATFORMS))
	@go run ./test/krew -version '$(VERSION)' -out $(RELEASE) $(call program_on,$(PLATFORMS))
	@bin/release image $(release_of) $(release_npm) -ref '$(REGISTRY)/windlass:$(VERSION)' -out $(RELEASE)/windlass-image $(call program_on,$(IMAGE_PLATFORMS))
	@rm -r $(RELEASE)/windlass-image # the archive has the same
	@for part in default:install gateway:gateway; do \
	   bin/k8s/kubectl kustomize "config/$${part%:*}" | sed 's|image: windlass:dev$$|image: $(REGISTRY)/windlass:$(VERSION)|' > "$(RELEASE)/$${part#*:}.yaml"; done
	@if [[ -e charts/windlass/Chart.yaml ]]; then bin/release chart $(release_of) -repository '$(REGISTRY)/windlass' -out $(RELEASE) charts/windlass; fi
	@git log --format='%h %s' $(addsuffix ..,$(since))HEAD | bin/release notes $(release_of) > $(RELEASE)/CHANGES.md
	@bin/release sums $(RELEASE)
	@cat $(RELEASE)/SHA256SUMS

.PHONY: rootfs
rootfs: bin/release ## Write the files that the Dockerfile puts beside bin/windlass, into dist/rootfs.
	@bin/release rootfs

.PHONY: clean
clean: ## Stop and delete all that make run started, and remove what was built.
	@'$(CURDIR)/config/local/clean'
	rm -rf bin dist internal/gateway/console/dist/app web/node_modules tools/site/node_modules web/src/api/schema.d.ts

##@ Prove

# go vet is left to make lint, which runs it with more checks: here it would take a minute on two cores.
.PHONY: test
test: export KUBEBUILDER_ASSETS := $(CURDIR)/bin/k8s
test: build bin/report bin/oidc bin/release bin/helm bin/kuberouter ## Run all tests: unit, schema, integration and end to end, on a real control plane.
	@{ status=0; \
	   go test -json -count=1 -vet=off -timeout=45m $(TESTFLAGS) ./... || status=1; \
	   go -C devcluster test -json -count=1 -vet=off -timeout=30m $(TESTFLAGS) ./... || status=1; \
	   go -C tools/chart test -json -count=1 -vet=off -timeout=30m $(TESTFLAGS) ./... || status=1; \
	   go -C tools/curves test -json -count=1 -vet=off -timeout=30m $(TESTFLAGS) ./... || status=1; \
	   go -C tools/monitoring test -json -count=1 -vet=off -timeout=30m $(TESTFLAGS) ./... || status=1; \
	   go -C tools/site test -json -count=1 -vet=off -timeout=30m $(TESTFLAGS) ./... || status=1; \
	   go -C release test -json -count=1 -vet=off -timeout=30m $(TESTFLAGS) ./... || status=1; \
	   exit $$status; } | bin/report

.PHONY: test-unit
test-unit: bin/report ## Run the tests that need no cluster, in seconds.
	@go test -json -short $(TESTFLAGS) ./... | bin/report -short

bin/report: $(call sources,test/report)
	@go build -o $@ ./test/report

.PHONY: lint
lint: ## Read the code as .golangci.yml says.
	$(LINT) run ./...
	cd devcluster && $(LINT) run --config=../.golangci.yml ./...
	cd release && $(LINT) run --config=../.golangci.yml ./...
	cd test/rke && $(LINT) run --config=../../.golangci.yml ./...
	cd test/oidc && $(LINT) run --config=../../.golangci.yml ./...
	cd test/kuberouter && $(LINT) run --config=../../.golangci.yml ./...
	cd tools/chart && $(LINT) run --config=../../.golangci.yml ./...
	cd tools/curves && $(LINT) run --config=../../.golangci.yml ./...
	cd tools/monitoring && $(LINT) run --config=../../.golangci.yml ./...
	cd tools/site && $(LINT) run --config=../../.golangci.yml ./...

.PHONY: verify
.NOTPARALLEL: verify # a linter must not read what is just being generated
verify: verify-generated verify-modules verify-merges verify-console docs lint ## Check that generated files and go.mod are fresh, and lint.

.PHONY: docs
docs: ## Write the site of docs/ into dist/site, with a search where there is Node. A link that leads nowhere fails.
	@tools/site/make

.PHONY: licences
licences: ## Check that every dependency has a licence under which it can be used here.
	@go run ./test/licences . devcluster release test/rke test/oidc test/kuberouter tools=tool tools/chart tools/curves tools/monitoring tools/site

.PHONY: screenshots
screenshots: export WINDLASS_PICTURES := $(CURDIR)/.local/pictures
screenshots: export WINDLASS_VISITS := a second load|pictures|every page|in Chinese
screenshots: build ## Take the pictures of docs/pictures anew, from the showcase, and replace those that look otherwise. .local/pictures/all has one of every page.
	@rm -rf .local/pictures && mkdir -p .local/pictures docs/pictures
	@go test -count=1 -timeout=30m -run '^TestShowcase$$' -v ./test/console

.PHONY: visits
visits: export KUBEBUILDER_ASSETS := $(CURDIR)/bin/k8s
visits: build ## Visit the console as people do who look at everything, change it by clicks, and lose the API server meanwhile. WINDLASS_VISITS=… takes some.
	@go test -count=1 -timeout=30m -run '^TestShowcase$$' -v ./test/console

.PHONY: accept-pictures
accept-pictures: export KUBEBUILDER_ASSETS := $(CURDIR)/bin/k8s
accept-pictures: build ## Accept what the pages of the console look like now, after you have looked at .local/gallery: make test compares with it.
	@WINDLASS_ACCEPT_PICTURES=1 go test -count=1 -timeout=30m -run '^TestPictures$$' ./test/console

.PHONY: vulnerabilities
vulnerabilities: ## Look for known vulnerabilities in what is shipped. $GOVULNDB is the database.
	@for module in . devcluster release; do echo "== $$module"; $(TOOL) govulncheck -C $$module ./... || exit 1; done

.PHONY: bench
bench: export KUBEBUILDER_ASSETS := $(CURDIR)/bin/k8s
bench: build $(if $(BENCH),,bench-micro) ## Measure against the floor, as ratios in one run. BENCH="…" passes arguments.
	@go run ./test/bench $(BENCH)

.PHONY: bench-compare
bench-compare: ## Tell by benchstat what has changed between the results OLD and NEW of two runs, written with BENCH="-json file", and what is noise.
	@mkdir -p .local
	@go run ./test/bench -benchfmt '$(or $(OLD),$(error give two files: OLD=before.json NEW=after.json))' > .local/bench-old.txt
	@go run ./test/bench -benchfmt '$(or $(NEW),$(error give two files: OLD=before.json NEW=after.json))' > .local/bench-new.txt
	@$(TOOL) benchstat old=.local/bench-old.txt new=.local/bench-new.txt

.PHONY: bench-report
bench-report: export KUBEBUILDER_ASSETS := $(CURDIR)/bin/k8s
bench-report: build ## Measure how everything grows with nodes, pools and pods, keep the results in docs/measured, and draw them. GROWTH="…" passes arguments.
	@mkdir -p docs/measured
	@for over in nodes pools pods; do \
	   go run ./test/bench -scenario growth-$$over -check -json docs/measured/growth-$$over.json $(GROWTH) || exit 1; \
	 done
	@$(MAKE) bench-pictures

.PHONY: bench-pictures
bench-pictures: ## Draw the curves of docs/measured anew.
	@go -C tools/curves run . "$(CURDIR)/docs/measured"

.PHONY: fault
fault: build ## Let every write fail in every way, and compare the ends. FAULT="…" passes arguments.
	@mkdir -p .local
	@go run ./test/fault -json .local/fault.json $(FAULT)

.PHONY: causes
causes: export KUBEBUILDER_ASSETS := $(CURDIR)/bin/k8s
causes: build bin/report ## Induce all faults of docs/why-faults.md, also those on real parts, and see whether each is explained by its cause. TESTFLAGS="…" passes arguments.
	@WINDLASS_CAUSES=1 go test -json -count=1 -timeout=30m $(TESTFLAGS) ./test/causes | bin/report

.PHONY: handover
handover: build ## Hand objects of all kinds to another version, to a standby, and through a backup to an empty cluster. TESTFLAGS="…" passes arguments.
	@WINDLASS_HANDOVER=1 go test -v -count=1 -timeout=60m $(TESTFLAGS) ./test/handover

.PHONY: bench-micro
bench-micro: export KUBEBUILDER_ASSETS := $(CURDIR)/bin/k8s
bench-micro: ## Run the micro-benchmarks that docs/performance.md quotes, five rounds.
	@go test -run '^$$' -bench '^Benchmark(Aggregate|NewPlan)$$' -benchmem -count=5 ./internal/membership ./internal/controller/nodepool

.PHONY: bench-console
bench-console: export KUBEBUILDER_ASSETS := $(CURDIR)/bin/k8s
bench-console: build ## Measure how smoothly the console runs with 10,000 rows and 5,000 nodes while 100 objects change each second.
	@WINDLASS_BENCH_CONSOLE=1 go test -v -count=1 -timeout 60m -run '^TestSmooth$$' ./test/console/lists

.PHONY: fault-sensitivity
fault-sensitivity: build ## Plant defects one at a time, and see whether make fault finds each of them.
	@go run ./test/fault -sensitivity

##@ Change

# The names of --controllers, and of what packages those consist that are more than one. Each gets a role of its own.
CONTROLLERS          := cluster kubeconfig nodepool podbuggertool podset virtualmachine
PARTS_nodepool       := nodepool node drain poolaccess
PARTS_virtualmachine := virtualmachine machinegc machineusage
role = $(CONTROLLER_GEN) rbac:roleName=windlass-$(1)-controller $(patsubst %,paths=./internal/controller/%,$(or $(PARTS_$(1)),$(1))) \
	output:rbac:dir=config/rbac/controllers/$(1)

.PHONY: generate
generate: ## Generate deepcopy, CRDs, RBAC, apply configurations, dashboards, chart and docs/reference from the code.
	@find api -name 'zz_generated.*.go' -delete
	@rm -rf api/*/*/applyconfiguration config/crd/bases/*.yaml
	$(CONTROLLER_GEN) object applyconfiguration crd:generateEmbeddedObjectMeta=true paths=./api/... output:crd:dir=config/crd/bases
	@go run ./test/explain config/crd/bases/*.yaml
	@$(foreach name,$(CONTROLLERS),$(call role,$(name)) &&) true
	@go -C tools/monitoring run . generate
	@go -C tools/chart run . generate
	@go -C tools/site run . reference

.PHONY: manifests
manifests: ## Write dist/install.yaml: config/default in one file, for "kubectl apply --server-side".
	@mkdir -p dist
	@go -C tools/chart run . install > dist/install.yaml

.PHONY: fmt
fmt: ## Format the code.
	$(LINT) fmt ./...
	cd devcluster && $(LINT) fmt --config=../.golangci.yml ./...
	cd release && $(LINT) fmt --config=../.golangci.yml ./...

.PHONY: tidy
tidy: ## Tidy go.mod and go.sum of every module.
	@for module in $(MODULES); do go -C $$module mod tidy; done

.PHONY: help
help: ## Explain the targets.
	@awk 'BEGIN { FS = ":.*## " } \
		/^##@/ { printf "\n%s\n", substr($$0, 5) } \
		/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

# -- Parts of verify ---------------------------------------------------------------------------------------------------------

# Every generated file with its content; --others too, because a file that nobody added is as stale as one that changed.
GENERATED = find api config/crd/bases config/rbac config/monitoring/grafana charts/windlass/templates/generated docs/reference -type f \
	\( -name 'zz_generated.*' -o -path '*/applyconfiguration/*' -o -path 'config/*' -o -path 'charts/*' -o -path 'docs/*' \) -exec sha256sum {} + | sort -k2

.PHONY: verify-generated
verify-generated:
	@before=$$($(GENERATED)); $(MAKE) generate; after=$$($(GENERATED)); \
	 diff <(echo "$$before") <(echo "$$after") | awk '/^[<>]/ { print "stale: " $$3 }' | sort -u; \
	 [[ "$$before" == "$$after" ]] || { echo 'generated files were stale: commit what make generate just wrote'; exit 1; }

.PHONY: verify-modules
verify-modules:
	@for module in $(MODULES); do \
	   go -C $$module mod tidy -diff || { echo "$$module/go.mod is not tidy: run make tidy"; exit 1; }; done

# Reads and tests the console's code, where there is a Node.
.PHONY: verify-console
verify-console:
	@web/build/make check

.PHONY: verify-merges
verify-merges:
	@! git grep -nE '^(<{7}|>{7}) ' || { echo 'these lines were left by a merge: mend them'; exit 1; }

.PHONY: always
always:
