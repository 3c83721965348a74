// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	nodefast "sigs.k8s.io/kwok/kustomize/stage/node/fast"
	heartbeat "sigs.k8s.io/kwok/kustomize/stage/node/heartbeat-with-lease"
	podfast "sigs.k8s.io/kwok/kustomize/stage/pod/fast"

	"github.com/windlass-operator/windlass/devcluster/internal/node"
	"github.com/windlass-operator/windlass/devcluster/internal/pki"
	"github.com/windlass-operator/windlass/devcluster/internal/process"
)

// component describes how one process of a cluster is started, checked and stopped.
type component struct {
	name string
	// ports are all ports that it listens on; the first one answers the probe.
	ports func(Ports) []int32
	// probe is the path that answers 200 when the component works.
	probe string
	args  func(*cluster) []string
	// grace is how long it can take to end after TERM, before it is killed.
	grace time.Duration
	// real is set for the components that only a cluster with a real node has.
	real bool
	// place prepares what the process needs and sets the namespaces that it runs in. It can be nil.
	place func(context.Context, *cluster, *process.Spec) error
	// check replaces the probe for components that do not listen on a port.
	check func(context.Context, *cluster) error
	// started is called after the component was started and works. It can be nil.
	started func(context.Context, *cluster) error
}

// batches returns the components in the order in which they start; they stop in reverse. The API server must stop after
// its controllers, or it waits for their watches to end, and before etcd, or it waits for etcd. The components of a real
// node start in the same batches, because only the kubelet needs the API server.
func batches() [][]component {
	return [][]component{
		{
			{
				name: etcd, probe: "/readyz", grace: 5 * time.Second, args: etcdArgs,
				ports: func(p Ports) []int32 { return []int32{p.Etcd, p.EtcdPeer} },
			},
			nodeInitComponent(),
		},
		{
			{
				name: apiServer, probe: "/readyz", grace: 10 * time.Second, args: apiServerArgs,
				ports: func(p Ports) []int32 { return []int32{p.APIServer} },
			},
			containerdComponent(),
		},
		{
			{
				name: controllerManager, probe: "/healthz", grace: 5 * time.Second, args: controllerManagerArgs,
				ports: func(p Ports) []int32 { return []int32{p.ControllerManager} },
			},
			{
				name: scheduler, probe: "/readyz", grace: 5 * time.Second, args: schedulerArgs,
				ports: func(p Ports) []int32 { return []int32{p.Scheduler} },
			},
			{
				name: kwokController, probe: "/readyz", grace: 5 * time.Second, args: kwokArgs,
				ports: func(p Ports) []int32 { return []int32{p.Kwok} },
			},
			kubeletComponent(),
		},
	}
}

// batches returns only the components that this cluster has.
func (c *cluster) batches() [][]component {
	wanted := batches()
	if c.state.RealNode != "" {
		return wanted
	}
	for i := range wanted {
		wanted[i] = slices.DeleteFunc(wanted[i], func(component component) bool { return component.real })
	}
	return wanted
}

const (
	serviceCIDR = "10.96.0.0/16"
	// firstServiceIP is the address of the API server's own service, which its certificate must contain.
	firstServiceIP = "10.96.0.1"
	// podCIDR is the range of the addresses of simulated pods. It is large because kwok uses each address only once.
	podCIDR = "10.128.0.0/9"
	issuer  = "https://kubernetes.default.svc.cluster.local"
)

// etcdArgs keeps fsync on: a cluster must survive a power failure, and would start only slightly faster without.
// etcd has no peers here, but requires a port for them.
func etcdArgs(c *cluster) []string {
	client, peer := "https://"+address(c.state.Ports.Etcd), "https://"+address(c.state.Ports.EtcdPeer)
	return []string{
		"--name=default", "--data-dir=" + filepath.Join(c.dir, "etcd"),
		"--listen-client-urls=" + client, "--advertise-client-urls=" + client,
		"--listen-peer-urls=" + peer, "--initial-advertise-peer-urls=" + peer, "--initial-cluster=default=" + peer,
		"--cert-file=" + c.pki.Cert(pki.EtcdServer), "--key-file=" + c.pki.Key(pki.EtcdServer),
		"--client-cert-auth=true", "--trusted-ca-file=" + c.pki.Cert(pki.EtcdCA),
		"--peer-cert-file=" + c.pki.Cert(pki.EtcdServer), "--peer-key-file=" + c.pki.Key(pki.EtcdServer),
		"--peer-client-cert-auth=true", "--peer-trusted-ca-file=" + c.pki.Cert(pki.EtcdCA),
		"--log-level=warn",
	}
}

// apiServerArgs keeps the defaults that real clusters keep, so that a program that works here works there.
func apiServerArgs(c *cluster) []string {
	return []string{
		"--bind-address=" + loopback, fmt.Sprintf("--secure-port=%d", c.state.Ports.APIServer),
		// Endpoints cannot hold a loopback address, and no simulated pod could use them.
		"--advertise-address=" + loopback, "--endpoint-reconciler-type=none",
		"--tls-cert-file=" + c.pki.Cert(pki.Server), "--tls-private-key-file=" + c.pki.Key(pki.Server),
		"--client-ca-file=" + c.pki.Cert(pki.CA),
		"--etcd-servers=https://" + address(c.state.Ports.Etcd), "--etcd-cafile=" + c.pki.Cert(pki.EtcdCA),
		"--etcd-certfile=" + c.pki.Cert(pki.EtcdClient), "--etcd-keyfile=" + c.pki.Key(pki.EtcdClient),
		"--authorization-mode=Node,RBAC",
		// The second one is off by default, but many real clusters enable it: operators should meet it here first.
		"--enable-admission-plugins=NodeRestriction,OwnerReferencesPermissionEnforcement",
		"--service-account-issuer=" + issuer,
		"--service-account-signing-key-file=" + c.pki.Key(pki.ServiceAccounts),
		"--service-account-key-file=" + c.pki.Public(pki.ServiceAccounts),
		"--service-cluster-ip-range=" + serviceCIDR,
		"--requestheader-client-ca-file=" + c.pki.Cert(pki.FrontProxyCA),
		"--requestheader-allowed-names=front-proxy-client", "--requestheader-username-headers=X-Remote-User",
		"--requestheader-group-headers=X-Remote-Group", "--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--proxy-client-cert-file=" + c.pki.Cert(pki.FrontProxyClient),
		"--proxy-client-key-file=" + c.pki.Key(pki.FrontProxyClient),
		"--kubelet-client-certificate=" + c.pki.Cert(pki.KubeletClient),
		"--kubelet-client-key=" + c.pki.Key(pki.KubeletClient),
		"--kubelet-certificate-authority=" + c.pki.Cert(pki.CA),
		// The internal addresses of simulated nodes are invented and must never be dialled. Their kubelet is the kwok
		// controller, whose address has this type. The address of a real node has it too.
		"--kubelet-preferred-address-types=" + string(node.KubeletAddressType),
		"--profiling=false",
	}
}

// controllerManagerArgs runs all controllers, unless others were asked for, each under its own account and rights as in a real cluster. There is no
// leader election, because there is one instance and to wait for an old lease would take 15 s after every restart.
func controllerManagerArgs(c *cluster) []string {
	kubeconfig := c.componentKubeconfig(pki.ControllerManager)
	return []string{
		"--bind-address=" + loopback, fmt.Sprintf("--secure-port=%d", c.state.Ports.ControllerManager),
		"--tls-cert-file=" + c.pki.Cert(pki.Server), "--tls-private-key-file=" + c.pki.Key(pki.Server),
		"--kubeconfig=" + kubeconfig, "--authentication-kubeconfig=" + kubeconfig, "--authorization-kubeconfig=" + kubeconfig,
		"--leader-elect=false", "--use-service-account-credentials=true",
		"--service-account-private-key-file=" + c.pki.Key(pki.ServiceAccounts), "--root-ca-file=" + c.pki.Cert(pki.CA),
		"--cluster-signing-cert-file=" + c.pki.Cert(pki.CA), "--cluster-signing-key-file=" + c.pki.Key(pki.CA),
		"--cluster-name=" + c.state.Name, "--kube-api-qps=1000", "--kube-api-burst=2000",
		"--controllers=" + c.state.controllers(),
		// The controller manager creates it if it is missing, and the default is a system directory.
		"--flex-volume-plugin-dir=" + filepath.Join(c.runDir(controllerManager), "volume-plugins"),
		"--profiling=false",
	}
}

// schedulerArgs raises the client's rate limits, which suit an API server with many other clients.
func schedulerArgs(c *cluster) []string {
	kubeconfig := c.componentKubeconfig(pki.Scheduler)
	return []string{
		"--bind-address=" + loopback, fmt.Sprintf("--secure-port=%d", c.state.Ports.Scheduler),
		"--tls-cert-file=" + c.pki.Cert(pki.Server), "--tls-private-key-file=" + c.pki.Key(pki.Server),
		"--kubeconfig=" + kubeconfig, "--authentication-kubeconfig=" + kubeconfig, "--authorization-kubeconfig=" + kubeconfig,
		"--leader-elect=false", "--kube-api-qps=1000", "--kube-api-burst=2000", "--profiling=false",
	}
}

// kwokArgs sets the lease duration of kubelets, because the node lifecycle controller expects it.
func kwokArgs(c *cluster) []string {
	return []string{
		"--kubeconfig=" + c.componentKubeconfig(pki.KwokController), "--config=" + c.stagesPath(),
		// Only the simulated nodes: the kubelet manages the pods of a real node.
		"--manage-all-nodes=false", "--manage-nodes-with-annotation-selector=" + node.SimulatedAnnotation + "=" + node.SimulatedValue,
		fmt.Sprintf("--node-port=%d", c.state.Ports.Kwok), "--node-ip=" + loopback,
		"--server-address=" + address(c.state.Ports.Kwok),
		"--tls-cert-file=" + c.pki.Cert(pki.Server), "--tls-private-key-file=" + c.pki.Key(pki.Server),
		"--node-lease-duration-seconds=40", "--cidr=" + podCIDR,
	}
}

// stages returns kwok's own stages: nodes become and stay ready, pods run, jobs complete, deleted pods end.
func stages() []byte {
	return []byte(strings.Join([]string{
		nodefast.DefaultNodeInit, heartbeat.DefaultNodeHeartbeatWithLease,
		podfast.DefaultPodReady, podfast.DefaultPodComplete, podfast.DefaultPodDelete,
	}, "\n---\n"))
}

// environment is short on purpose: the proxies, KUBECONFIG, ETCD_* and KWOK_* of the caller must not reach a component. GOGC and
// GOMAXPROCS do: tests with many clusters have memory to spare for processor time, and few processors for all of them.
func environment(c *cluster, name string) []string {
	env := []string{"KWOK_WORKDIR=" + c.runDir(kwokController)}
	for _, key := range []string{"PATH", "HOME", "TMPDIR", "TZ", "GOGC", "GOMAXPROCS"} {
		if value, ok := os.LookupEnv(key); ok {
			env = append(env, key+"="+value)
		}
	}
	if name == apiServer {
		env = append(env, "GOMEMLIMIT="+apiServerMemory)
	}
	return env
}

// apiServerMemory is the size from which the garbage collector works harder. It is not a hard limit. A thousand nodes
// with their pods stay well below it.
const apiServerMemory = "1GiB"
