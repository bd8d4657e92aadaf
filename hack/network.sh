# shellcheck shell=bash
# For sourcing, by what brings up the network of config/demo/network. Needs say, fail and kubectl, and the path of the
# kubeconfig in kubeconfig.
# shellcheck disable=SC2154 # kubeconfig is set by who sources this
namespace=sei-demo
nodes=(validator-0 validator-1 validator-2 validator-3 full)
patience=600

# facts prints a line for every node: name|phase|readiness|what its plan is doing.
facts() {
  kubectl -n "$namespace" get seinodes -o 'jsonpath={range .items[*]}{.metadata.name}|{.status.phase}|{.status.conditions[?(@.type=="Ready")].reason}|{.status.conditions[?(@.type=="PlanInProgress")].message}{"\n"}{end}' 2>/dev/null || true
}

# ask NODE PATH asks the node's RPC through the API server.
ask() { kubectl get --raw "/api/v1/namespaces/$namespace/pods/$1-0:26657/proxy/$2" 2>/dev/null || true; }

height() { ask "$1" status | grep -o '"latest_block_height": *"[0-9]*"' | grep -o '[0-9]*' || echo -; }
peers()  { ask "$1" net_info | grep -o '"state": *"[^"]*connected' | wc -l; }

# show prints what changed since it was last called, without waiting times, which change all the time.
declare -A shown
show() {
  local name phase ready doing line
  while IFS='|' read -r name phase ready doing; do
    [[ -n $name ]] || continue
    line=$phase
    if [[ $phase == Running ]]; then line+=", $ready"; fi
    if [[ $doing == *": task "* ]]; then line+=": ${doing#*: }" line=${line%%, since*}; fi
    if [[ ${shown[$name]-} != "$line" ]]; then
      shown[$name]=$line
      say "$(printf '%-12s %s' "$name" "$line")"
    fi
  done <<<"$1"
}

# watch_network shows progress until every node is in sync.
first_block=
watch_network() {
  local now at began=$SECONDS
  while ((SECONDS - began < patience)); do
    now=$(facts)
    show "$now"
    if [[ -z $first_block ]]; then
      at=$(height "${nodes[0]}")
      if [[ $at =~ ^[1-9] ]]; then
        first_block=$SECONDS
        say "the chain lives: block $at"
      fi
    fi
    if [[ $(grep -c '|Running|InSync|' <<<"$now") -ge ${#nodes[@]} ]]; then return; fi
    sleep 2
  done
  fail "the network is not in sync after $patience s: kubectl -n $namespace describe seinodes (export KUBECONFIG=$kubeconfig)"
}

table() {
  local name phase ready doing
  printf '\n%-14s %-12s %-10s %-8s %s\n' NODE PHASE READY HEIGHT PEERS
  while IFS='|' read -r name phase ready doing; do
    printf '%-14s %-12s %-10s %-8s %s\n' "$name" "$phase" "$ready" "$(height "$name")" "$(peers "$name")"
  done < <(facts)
}
