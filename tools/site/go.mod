module github.com/windlass-operator/windlass/tools/site

go 1.26.0

toolchain go1.26.8

require (
	github.com/alecthomas/chroma/v2 v2.27.0
	github.com/google/go-cmp v0.7.0
	github.com/yuin/goldmark v1.8.7
	sigs.k8s.io/yaml v1.6.0
)

require (
	github.com/dlclark/regexp2/v2 v2.2.1 // indirect
	go.yaml.in/yaml/v2 v2.4.2 // indirect
)
