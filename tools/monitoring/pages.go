// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

// Names of series by one label.
const (
	byController = "{{controller}}"
	byPool       = "{{pool}}"
)

// pages are the dashboards.
func pages() []page { return []page{overview(), nodePools(), machines(), clusters()} }

func overview() page {
	return page{
		uid: "windlass-overview", title: "Windlass / Overview", description: "The manager: what it takes care of, its queues, its writes, and who leads.",
		rows: []row{
			{"State", []panel{
				figure("Instances", count, `count(windlass_build_info{job="$job"})`),
				figure("Leaders", count, `sum(leader_election_master_status{job="$job"})`).about("One instance works. Zero for minutes means that nobody does."),
				figure("Not ready", count, `sum(windlass_resource_conditions{job="$job", condition="Ready", status="False"}) or vector(0)`),
				figure("Stalled", count, `sum(windlass_resource_conditions{job="$job", condition="Stalled", status="True"}) or vector(0)`).about("These wait for a person."),
				figure("In deletion", count, `sum(windlass_resource_deleting{job="$job"})`),
				figure("Oldest deletion", seconds, `max(windlass_resource_deletion_age_seconds{job="$job"})`),
			}},
			{"Objects", []panel{
				graph("Objects that are not ready", count, query{`sum by (kind, reason) (windlass_resource_conditions{job="$job", condition="Ready", status="False"})`, "{{kind}} {{reason}}"}),
				graph("Objects by kind", count, query{`sum by (kind) (windlass_resource_conditions{job="$job", condition="Ready"})`, "{{kind}}"}),
			}},
			{"Passes and queues", []panel{
				graph("Passes", perSec, query{`sum by (controller) (rate(controller_runtime_reconcile_total{job="$job"}[$__rate_interval]))`, byController}),
				graph("Passes that fail", perSec, query{`sum by (controller) (rate(controller_runtime_reconcile_errors_total{job="$job"}[$__rate_interval]))`, byController}),
				graph("Duration of passes", seconds, quantiles("controller_runtime_reconcile_time_seconds", `job="$job"`, "controller")...),
				graph("Wait in the queue", seconds, quantiles("workqueue_queue_duration_seconds", `job="$job"`, "controller")...),
				graph("Objects that wait", count, query{`sum by (controller) (workqueue_depth{job="$job"})`, byController}),
				graph("Busy workers", count, query{`sum by (controller) (controller_runtime_active_workers{job="$job"})`, byController}),
			}},
			{"API server", []panel{
				graph("Writes", perSec, query{`sum by (verb, resource, subresource) (rate(windlass_api_writes_total{job="$job"}[$__rate_interval]))`, "{{verb}} {{resource}} {{subresource}}"}).
					about("What the controllers change. At rest there is nothing to write."),
				graph("Writes that are refused", perSec, query{`sum by (resource, code) (rate(windlass_api_writes_total{job="$job", code!~"2.."}[$__rate_interval]))`, "{{resource}} {{code}}"}).
					about("409 is somebody else's write at the same moment, 429 an eviction that a disruption budget refuses."),
				graph("All requests", perSec, query{`sum by (method, code) (rate(rest_client_requests_total{job="$job"}[$__rate_interval]))`, "{{method}} {{code}}"}),
				graph("Retries", perSec, query{`sum by (controller) (rate(workqueue_retries_total{job="$job"}[$__rate_interval]))`, byController}),
			}},
			{"Process", []panel{
				graph("CPU", cores, query{`sum by (instance) (rate(process_cpu_seconds_total{job="$job"}[$__rate_interval]))`, "{{instance}}"}),
				graph("Memory", bytes, query{`sum by (instance) (process_resident_memory_bytes{job="$job"})`, "{{instance}}"}),
			}},
		},
	}
}

func nodePools() page {
	const pool = `job="$job", pool=~"$pool"`
	return page{
		uid: "windlass-nodepools", title: "Windlass / NodePools", description: "Nodes of pools, what is changed on them, and drains.",
		variable: variable{"pool", "Pool", `label_values(windlass_nodepool_nodes{job="$job"}, pool)`},
		rows: []row{
			{"Nodes", []panel{
				graph("Nodes", count, query{`sum by (pool, state) (windlass_nodepool_nodes{` + pool + `})`, "{{pool}} {{state}}"}),
				graph("Keys in conflict", count, query{`sum by (pool) (windlass_nodepool_conflicts{` + pool + `})`, byPool}),
			}},
			{"Changes", []panel{
				graph("Patches of nodes", perSec, query{`sum by (pool) (rate(windlass_nodepool_node_patches_total{` + pool + `}[$__rate_interval]))`, byPool}),
				graph("Repairs of drift", perSec, query{`sum by (pool) (rate(windlass_nodepool_drift_repairs_total{` + pool + `}[$__rate_interval]))`, byPool}).
					about("Somebody else changes what a pool owns. Two writers that never agree show as a line that does not end."),
				graph("Patches that came too late", perSec, query{`sum by (pool) (rate(windlass_nodepool_node_conflicts_total{` + pool + `}[$__rate_interval]))`, byPool}),
				graph("Time until a node is as its pool asks", seconds, quantiles("windlass_nodepool_apply_seconds", pool, "pool")...),
			}},
			{"Pods", []panel{
				graph("Evictions of drains", perSec, query{`sum by (pool, outcome) (rate(windlass_nodepool_evictions_total{` + pool + `}[$__rate_interval]))`, "{{pool}} {{outcome}}"}).
					about("Refused means that a disruption budget says no."),
				graph("Pods of PodSets by pool", count, query{`label_replace(sum by (pool) (windlass_podset_pods{` + pool + `}), "pool", "no pool", "pool", "")`, byPool}),
				graph("Pods of all PodSets", count, query{`sum by (state) (windlass_podset_replicas{job="$job"})`, "{{state}}"}),
			}},
		},
	}
}

func machines() page {
	const host = `job="$job", host=~"$host"`
	return page{
		uid: "windlass-machines", title: "Windlass / Machines", description: "VirtualMachines, their hosts, and the calls to those.",
		variable: variable{"host", "Host", `label_values(windlass_vm_host_up{job="$job"}, host)`},
		rows: []row{
			{"Hosts", []panel{
				figure("Hosts that answer", count, `sum(windlass_vm_host_up{`+host+`})`),
				figure("Hosts that do not", count, `count(windlass_vm_host_up{`+host+`} == 0) or vector(0)`),
				figure("Orphans", count, `sum(windlass_vm_orphans{`+host+`}) or vector(0)`).about("Machines that no VirtualMachine stands for."),
			}},
			{"Machines", []panel{
				graph("By phase", count, query{`count by (phase) (windlass_vm_phase{job="$job"})`, "{{phase}}"}),
				graph("By host", count, query{`count by (host) (windlass_vm_info{` + host + `})`, "{{host}}"}),
				graph("Time from object to running machine", seconds, quantiles("windlass_vm_creation_duration_seconds", `job="$job"`, "driver")...),
				graph("Age of the oldest sample", seconds, query{`max(windlass_vm_sample_age_seconds{job="$job"})`, "oldest"}),
			}},
			{"Usage", []panel{
				graph("CPU, the ten busiest", cores, query{`topk(10, sum by (namespace, name) (windlass_vm_cpu_usage_cores{job="$job"}))`, "{{namespace}}/{{name}}"}),
				graph("Memory, the ten largest", bytes, query{`topk(10, sum by (namespace, name) (windlass_vm_memory_working_set_bytes{job="$job"}))`, "{{namespace}}/{{name}}"}),
			}},
			{"Calls to hosts", []panel{
				graph("Calls", perSec, query{`sum by (call) (rate(windlass_vm_driver_call_duration_seconds_count{` + host + `}[$__rate_interval]))`, "{{call}}"}),
				graph("Duration of calls", seconds, quantiles("windlass_vm_driver_call_duration_seconds", host, "call")...),
				graph("Calls that fail", perSec, query{`sum by (host, kind) (rate(windlass_vm_driver_call_errors_total{` + host + `}[$__rate_interval]))`, "{{host}} {{kind}}"}),
			}},
		},
	}
}

func clusters() page {
	return page{
		uid: "windlass-clusters", title: "Windlass / Clusters", description: "Clusters that tools provision, their runs, and Kubeconfigs.",
		rows: []row{
			{"Clusters", []panel{
				graph("Clusters that are not ready", count, query{`sum by (reason) (windlass_resource_conditions{job="$job", kind="Cluster", condition="Ready", status="False"})`, "{{reason}}"}),
				graph("Health", count, query{`sum by (status, reason) (windlass_resource_conditions{job="$job", kind="Cluster", condition="Healthy"})`, "{{status}} {{reason}}"}),
				graph("Kubeconfigs that are not ready", count, query{`sum by (reason) (windlass_resource_conditions{job="$job", kind="Kubeconfig", condition="Ready", status="False"})`, "{{reason}}"}),
				graph("Age of the oldest deletion", seconds, query{`max by (kind) (windlass_resource_deletion_age_seconds{job="$job", kind=~"Cluster|Kubeconfig"})`, "{{kind}}"}),
			}},
			{"Runs of tools", []panel{
				graph("Runs, and Clusters that wait for one", count,
					query{`sum by (state) (windlass_cluster_runs{job="$job"})`, "{{state}}"}, query{`max(windlass_cluster_run_slots{job="$job"})`, "slots"}),
				graph("Ended runs an hour", count, query{`sum by (operation, outcome) (increase(windlass_cluster_run_duration_seconds_count{job="$job"}[1h]))`, "{{operation}} {{outcome}}"}),
				graph("Duration of runs", seconds, quantiles("windlass_cluster_run_duration_seconds", `job="$job"`, "operation")...),
			}},
		},
	}
}
