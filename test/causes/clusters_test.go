// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package causes

import (
	"slices"

	"github.com/windlass-operator/windlass/internal/why"
)

const isCluster = "Cluster/$ status.conditions[*]"

// inlined is a Cluster with a configuration in the object, with more of its spec.
func inlined(spec string) step {
	return have(`{apiVersion: clusterprovisioner.rke.io/v1alpha1, kind: Cluster, metadata: {name: $}, spec: {config: {inline: "cluster_name: $\nnodes:\n- {address: $.invalid, user: ubuntu, role: [controlplane, worker, etcd]}\n"}, ` +
		`deletionPolicy: Orphan, retry: {attempts: 1}` + spec + `}}`)
}

// by is a Cluster whose tool is a line of a shell.
func by(script, more string) step {
	return inlined(`, provisioner: exec, exec: {up: [/bin/sh, -c, "` + script + `"], remove: [/bin/true], kubeconfigFile: kubeconfig}` + more)
}

// fails is a tool that says a line and ends with an error.
func fails(line string) []step { return []step{by("echo '"+line+"' >&2; exit 1", "")} }

// clusterFaults keep Clusters and Kubeconfigs from being ready.
func clusterFaults() []fault {
	faults := slices.Concat(configFaults(), toolRunFaults(), afterFaults())
	for i := range faults {
		if faults[i].ask == "" {
			faults[i].ask = "clusters/$"
		}
	}
	return slices.Concat(faults, kubeconfigFaults())
}

func configFaults() []fault {
	const cluster = `{apiVersion: clusterprovisioner.rke.io/v1alpha1, kind: Cluster, metadata: {name: $}, spec: {deletionPolicy: Orphan, `
	return []fault{
		{
			name: "The Secret with the configuration does not exist", id: "config-secret",
			steps: []step{have(cluster + `config: {secretRef: {namespace: windlass-system, name: $, key: cluster.yml}}}}`)},
			code:  "ConfigNotFound", evidence: "Cluster/$ status.conditions[ConfigValid]", message: "$",
		},
		{
			name: "The ConfigMap with the configuration lacks the key", id: "config-key",
			steps: []step{
				have(`{apiVersion: v1, kind: ConfigMap, metadata: {name: $, namespace: windlass-system}, data: {other: ""}}`),
				have(cluster + `config: {configMapRef: {namespace: windlass-system, name: $, key: cluster.yml}}}}`),
			},
			code: "ConfigNotFound", evidence: "Cluster/$ status.conditions[ConfigValid]", message: "cluster.yml",
		},
		{
			name: "The configuration is not YAML", id: "config-yaml", steps: []step{have(cluster + `config: {inline: "nodes: ["}}}`)},
			code: "ConfigUnreadable", evidence: "Cluster/$ status.conditions[ConfigValid]",
		},
		{
			name: "The file is outside of the directory for configurations", id: "config-path", steps: []step{have(cluster + `configPath: /etc/passwd}}`)},
			code: "ConfigPathRefused", evidence: "Cluster/$ status.conditions[ConfigValid]", message: "/etc/passwd",
		},
		{
			name: "The Secret is in a namespace that Windlass must not read", id: "config-namespace",
			steps: []step{have(cluster + `config: {secretRef: {namespace: $, name: config, key: cluster.yml}}}}`)},
			code:  "ReferenceRefused", evidence: "Cluster/$ status.conditions[ConfigValid]", message: "$",
		},
		{
			name: "The configuration has a private key in plain sight", id: "config-plain",
			steps: []step{have(cluster + `config: {inline: "nodes:\n- {address: a.invalid, user: u, role: [etcd], ssh_key: secret}\n"}}}`)},
			code:  "SecretInPlainSight", evidence: "Cluster/$ status.conditions[ConfigValid]", message: "ssh_key",
		},
		{
			name: "The provisioner is not allowed", id: "provisioner", steps: []step{inlined(`, provisioner: devcluster`)},
			code: "ProvisionerNotAllowed", evidence: isCluster, message: "devcluster",
		},
		{
			name: "The change waits for approval", id: "approval", steps: []step{by("exit 1", ", approval: Manual")},
			code: "WaitingForApproval", evidence: isCluster, cures: true,
		},
		{
			name: "The Cluster is paused", id: "cluster-paused",
			steps: []step{have(`{apiVersion: clusterprovisioner.rke.io/v1alpha1, kind: Cluster, metadata: {name: $, annotations: {windlass.io/paused: "true"}}, ` +
				`spec: {deletionPolicy: Orphan, retry: {attempts: 1}, config: {inline: "nodes: []"}, provisioner: exec, exec: {up: [/bin/false], remove: [/bin/true]}}}`)},
			code: "Paused", evidence: isCluster, message: "windlass.io/paused", cures: true,
		},
	}
}

// toolRunFaults are of tools that fail.
func toolRunFaults() []fault {
	run := func(name, id, code, line, message string) fault {
		return fault{name: name, id: id, steps: fails(line), code: why.Code(code), evidence: isCluster, message: message}
	}
	return []fault{
		run("A machine refuses the SSH key", "run-ssh-key", "SSHAuth", "FATA[0002] ssh: handshake failed: ssh: unable to authenticate, attempted methods [none publickey]", "unable to authenticate"),
		run("A machine cannot be reached", "run-tunnel", "SSHTunnel", "FATA[0002] Failed to set up SSH tunneling for host [10.0.0.1]: no answer", "10.0.0.1"),
		run("A machine has a version of Docker that the tool does not support", "run-docker", "UnsupportedDocker", "FATA[0002] Unsupported Docker version found [29.0.0] on host [10.0.0.1]", "29.0.0"),
		run("A port of a machine is in use", "run-port", "PortInUse", "FATA[0002] bind for 0.0.0.0:2379 failed: port is already allocated", "2379"),
		run("The disk of a machine is full", "run-disk", "DiskFull", "FATA[0002] write /var/lib/docker/x: no space left on device", "no space left on device"),
		run("etcd is not healthy", "run-etcd", "EtcdUnhealthy", "FATA[0002] etcd cluster is unhealthy", "etcd cluster is unhealthy"),
		run("An image cannot be pulled on a machine", "run-image", "ImagePull", "FATA[0002] Failed to pull image rancher/hyperkube", "rancher/hyperkube"),
		run("A certificate does not fit the cluster", "run-certificate", "CertMismatch", "FATA[0002] x509: certificate signed by unknown authority", "x509"),
		run("The tool does not accept the configuration", "run-refused", "ConfigRefused", "FATA[0002] Failed to parse cluster file: yaml: line 3: did not find expected key", "line 3"),
		run("The state of the tool is lost", "run-state", "StateLost", "FATA[0002] Failed to read state file: unexpected end", "state file"),
		run("The tool fails for a reason that no rule knows", "run-unknown", "Unknown", "FATA[0002] the moon is in the wrong phase", "the moon is in the wrong phase"),
		{
			name: "The tool needs longer than it may", id: "run-timeout", steps: []step{by("sleep 600", ", timeouts: {up: 1s, grace: 1s}")},
			code: "Timeout", evidence: isCluster,
		},
		{
			name: "The tool is not installed", id: "run-missing",
			steps: []step{inlined(`, provisioner: exec, exec: {up: [no-such-tool, up], remove: [/bin/true]}`)},
			code:  "BinaryMissing", evidence: isCluster, message: "no-such-tool", elsewhere: "the log of a manager in the cluster",
		},
		{
			name: "A failed run is going to be repeated", id: "run-again",
			steps: []step{have(`{apiVersion: clusterprovisioner.rke.io/v1alpha1, kind: Cluster, metadata: {name: $}, spec: {config: {inline: "nodes: []"}, deletionPolicy: Orphan, ` +
				`provisioner: exec, exec: {up: [/bin/sh, -c, "echo 'etcd cluster is unhealthy' >&2; exit 1"], remove: [/bin/true]}, retry: {initial: 10m}}}`)},
			code: "EtcdUnhealthy", evidence: isCluster, message: "etcd cluster is unhealthy",
		},
	}
}

// kubeconfigOf writes a kubeconfig that leads to a server.
func kubeconfigOf(server string) string {
	return `printf 'apiVersion: v1\\nkind: Config\\nclusters: [{name: c, cluster: {server: \"` + server + `\"}}]\\nusers: [{name: u, user: {token: t}}]\\n` +
		`contexts: [{name: x, context: {cluster: c, user: u}}]\\ncurrent-context: x\\n' > kubeconfig`
}

// afterFaults are of clusters whose tool has succeeded.
func afterFaults() []fault {
	return []fault{
		{
			name: "The tool leaves no kubeconfig", id: "no-kubeconfig", steps: []step{by("true", "")},
			code: "KubeconfigMissing", evidence: isCluster, message: "kubeconfig",
		},
		{
			name: "The kubeconfig would run a program", id: "kubeconfig-runs",
			steps: []step{by(`printf 'apiVersion: v1\\nkind: Config\\nclusters: [{name: c, cluster: {server: \"https://127.0.0.1:1\"}}]\\n`+
				`users: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: aws, interactiveMode: Never}}}]\\ncontexts: [{name: x, context: {cluster: c, user: u}}]\\ncurrent-context: x\\n' > kubeconfig`, "")},
			code: "KubeconfigInvalid", evidence: isCluster, message: "runs a program",
		},
		{
			name: "A Secret with the name of the kubeconfig's belongs to somebody else", id: "kubeconfig-secret",
			steps: []step{have(`{apiVersion: v1, kind: Secret, metadata: {name: $-kubeconfig, namespace: windlass-system}}`), by(kubeconfigOf("https://127.0.0.1:1"), "")},
			code:  "SecretConflict", evidence: isCluster, message: "$-kubeconfig", shows: "$-kubeconfig",
		},
		{
			name: "The cluster does not answer", id: "not-answering",
			steps: []step{by(kubeconfigOf("https://127.0.0.1:1"), ", health: {interval: 5s, timeout: 1s, failureThreshold: 1}")},
			code:  "NotAnswering", evidence: "Cluster/$ status.conditions[Healthy]", message: "127.0.0.1:1",
		},
		{
			name: "The tool did not reach a machine", id: "skipped",
			steps: []step{
				file("$/cluster.yml", "cluster_name: $\nnodes:\n- {address: $.invalid, user: ubuntu, role: [controlplane, worker, etcd]}\n"), adminKubeconfig("$/admin"),
				have(`{apiVersion: clusterprovisioner.rke.io/v1alpha1, kind: Cluster, metadata: {name: $}, spec: {configPath: CONFIGS/$/cluster.yml, deletionPolicy: Orphan, retry: {attempts: 1}, ` +
					`provisioner: exec, exec: {up: [/bin/sh, -c, "echo 'WARN[0001] Failed to set up SSH tunneling for host [$.invalid]: timeout'; cp {dir}/admin {dir}/kubeconfig"], remove: [/bin/true], kubeconfigFile: kubeconfig}}}`),
			},
			code: "NodesSkipped", evidence: "Cluster/$ status.conditions[Degraded]", message: "$.invalid",
		},
		{
			name: "The file with the configuration does not exist", id: "config-file",
			steps: []step{have(`{apiVersion: clusterprovisioner.rke.io/v1alpha1, kind: Cluster, metadata: {name: $}, spec: {configPath: CONFIGS/$/cluster.yml, deletionPolicy: Orphan}}`)},
			code:  "ConfigNotFound", evidence: "Cluster/$ status.conditions[ConfigValid]", message: "$/cluster.yml",
		},
		{
			name: "Another Cluster has the file", id: "config-taken", ask: "clusters/$",
			steps: []step{
				file("$/cluster.yml", "nodes: []\n"),
				have(`{apiVersion: clusterprovisioner.rke.io/v1alpha1, kind: Cluster, metadata: {name: $-first}, spec: {configPath: CONFIGS/$/cluster.yml, deletionPolicy: Orphan, retry: {attempts: 1}, ` +
					`provisioner: exec, exec: {up: [/bin/false], remove: [/bin/true]}}}`),
				until("cluster/$-first", "status.conditions[Provisioned]", "False"),
				have(`{apiVersion: clusterprovisioner.rke.io/v1alpha1, kind: Cluster, metadata: {name: $}, spec: {configPath: CONFIGS/$/cluster.yml, deletionPolicy: Orphan}}`),
			},
			code: "ConfigPathInUse", evidence: "Cluster/$ status.conditions[ConfigValid]", message: "$-first",
		},
	}
}

func kubeconfigFaults() []fault {
	const is = "Kubeconfig/$ status.conditions[Issued]"
	of := func(spec string) step {
		return have(`{apiVersion: clusterprovisioner.rke.io/v1alpha1, kind: Kubeconfig, metadata: {name: $}, spec: {` + spec + `}}`)
	}
	faults := []fault{
		{
			name: "The Cluster of the Kubeconfig does not exist", id: "access-no-cluster", steps: []step{of(`clusterRef: {name: none}`)},
			code: "ClusterNotFound", evidence: is, message: "none",
		},
		{
			name: "The Cluster of the Kubeconfig has failed", id: "access-not-ready",
			steps: []step{
				have(`{apiVersion: clusterprovisioner.rke.io/v1alpha1, kind: Cluster, metadata: {name: $-of}, spec: {config: {inline: "nodes: []"}, deletionPolicy: Orphan, ` +
					`retry: {attempts: 1}, provisioner: exec, exec: {up: [/bin/false], remove: [/bin/true]}}}`),
				of(`clusterRef: {name: $-of}`),
			},
			code: "ClusterNotReady", evidence: is, message: "$-of", shows: "$-of",
		},
		{
			name: "A ServiceAccount in the cluster with the name of the token's belongs to somebody else", id: "access-token",
			steps: []step{
				file("$/cluster.yml", "nodes: []\n"), adminKubeconfig("$/admin"), have(`{apiVersion: v1, kind: ServiceAccount, metadata: {name: windlass-$, namespace: kube-system}}`),
				have(`{apiVersion: clusterprovisioner.rke.io/v1alpha1, kind: Cluster, metadata: {name: $-of}, spec: {configPath: CONFIGS/$/cluster.yml, deletionPolicy: Orphan, retry: {attempts: 1}, ` +
					`provisioner: exec, exec: {up: [/bin/sh, -c, "cp {dir}/admin {dir}/kubeconfig"], remove: [/bin/true], kubeconfigFile: kubeconfig}}}`),
				until("cluster/$-of", "status.conditions[Ready]", "True"), of(`clusterRef: {name: $-of}, type: ServiceAccountToken`),
			},
			code: "TokenRefused", evidence: is, message: "windlass-$",
		},
		{
			name: "The file of the Kubeconfig is outside of the directory", id: "access-path", steps: []step{of(`configPath: /etc/passwd`)},
			code: "ConfigPathRefused", evidence: is, message: "/etc/passwd",
		},
		{
			name: "The file of the Kubeconfig is not a kubeconfig", id: "access-invalid",
			steps: []step{file("$/cluster.yml", "nodes: []\n"), file("$/kube_config_cluster.yml", "nonsense\n"), of(`configPath: CONFIGS/$/cluster.yml`)},
			code:  "KubeconfigInvalid", evidence: is,
		},
		{
			name: "The file of the Kubeconfig does not exist", id: "access-missing", steps: []step{of(`configPath: CONFIGS/$/cluster.yml`)},
			code: "KubeconfigMissing", evidence: is, message: "$",
		},
	}
	for i := range faults {
		faults[i].ask = "kubeconfigs/$"
	}
	return faults
}
