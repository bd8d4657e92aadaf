package peers

import (
	"context"
	"fmt"
	"maps"
	"net"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/smithy-go/logging"

	"github.com/sei-operator/sei-operator/internal/seid"
	"github.com/sei-operator/sei-operator/internal/seid/rpc"
)

// Tags of an instance that tell about its node.
const (
	// TagNodeID holds the node id. Without it the instance's RPC is asked.
	TagNodeID = "sei.io/node-id"
	// TagP2PPort holds the peer-to-peer port, if it is not the usual one.
	TagP2PPort = "sei.io/p2p-port"
)

const (
	// pageSize is how many instances one call asks for.
	pageSize = 500
	// maxInstances bounds what a careless tag can find.
	maxInstances = 2000
	// maxAsking bounds how many instances are asked for their id at once.
	maxAsking = 16
	// rpcTimeout bounds the question for one instance's id.
	rpcTimeout = 2 * time.Second
)

// regionPattern keeps anything but a region out of the name of the endpoint.
var regionPattern = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+){1,4}$`)

// EC2 finds instances by calling AWS. Credentials, endpoints and retries are
// those of the SDK's default configuration: environment, shared files, the pod's
// identity. Put it behind a Cache: it may take long.
type EC2 struct {
	// RPCPort is where instances without a node id tag are asked for it; 0 means
	// the usual port.
	RPCPort int32

	mu      sync.Mutex
	clients map[string]*ec2.Client
}

// Find implements Instances.
func (e *EC2) Find(ctx context.Context, region string, tags map[string]string) ([]Instance, error) {
	client, err := e.client(ctx, region)
	if err != nil {
		return nil, err
	}
	pages := ec2.NewDescribeInstancesPaginator(client, &ec2.DescribeInstancesInput{
		Filters: filters(tags), MaxResults: aws.Int32(pageSize),
	})
	var found []Instance
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("describing instances in region %s: %w", region, err)
		}
		for _, reservation := range page.Reservations {
			for i := range reservation.Instances {
				found = append(found, describe(&reservation.Instances[i]))
			}
		}
		if len(found) > maxInstances {
			return nil, fmt.Errorf("more than %d running instances in region %s carry these tags: name more tags", maxInstances, region)
		}
	}
	e.askNodeIDs(ctx, found)
	return found, nil
}

func (e *EC2) client(ctx context.Context, region string) (*ec2.Client, error) {
	if !regionPattern.MatchString(region) {
		return nil, fmt.Errorf("%q is not an AWS region", region)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if client, ok := e.clients[region]; ok {
		return client, nil
	}
	// The SDK would write lines of its own into our log; what matters is in the errors.
	cfg, err := config.LoadDefaultConfig(ctx, config.WithRegion(region), config.WithLogger(logging.Nop{}))
	if err != nil {
		return nil, fmt.Errorf("loading the AWS configuration: %w", err)
	}
	if e.clients == nil {
		e.clients = map[string]*ec2.Client{}
	}
	client := ec2.NewFromConfig(cfg)
	e.clients[region] = client
	return client, nil
}

func filters(tags map[string]string) []types.Filter {
	list := make([]types.Filter, 0, 1+len(tags))
	list = append(list, types.Filter{Name: aws.String("instance-state-name"), Values: []string{string(types.InstanceStateNameRunning)}})
	for _, name := range slices.Sorted(maps.Keys(tags)) {
		list = append(list, types.Filter{Name: aws.String("tag:" + name), Values: []string{tags[name]}})
	}
	return list
}

// describe takes from an instance what a peer needs. Inside a VPC the public
// name resolves to the private address, so it serves both worlds.
func describe(i *types.Instance) Instance {
	found := Instance{ID: aws.ToString(i.InstanceId), Port: seid.PortP2P}
	for _, host := range []*string{i.PublicDnsName, i.PublicIpAddress, i.PrivateIpAddress, i.Ipv6Address} {
		if found.Host == "" {
			found.Host = aws.ToString(host)
		}
	}
	if found.Host == "" {
		found.Problem = "it has no address"
		return found
	}
	for _, tag := range i.Tags {
		switch aws.ToString(tag.Key) {
		case TagNodeID:
			found.NodeID = aws.ToString(tag.Value)
		case TagP2PPort:
			port, err := strconv.ParseInt(aws.ToString(tag.Value), 10, 32)
			if err != nil {
				found.Problem = fmt.Sprintf("tag %s is %q, which is not a port", TagP2PPort, aws.ToString(tag.Value))
			}
			found.Port = int32(port)
		}
	}
	if found.Problem != "" {
		found.NodeID = ""
	}
	return found
}

// askNodeIDs asks the instances that do not tell their id by a tag.
func (e *EC2) askNodeIDs(ctx context.Context, found []Instance) {
	var wg sync.WaitGroup
	slots := make(chan struct{}, maxAsking)
	for i := range found {
		instance := &found[i]
		if instance.NodeID != "" || instance.Problem != "" {
			continue
		}
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			e.askNodeID(ctx, instance)
		})
	}
	wg.Wait()
}

func (e *EC2) askNodeID(ctx context.Context, instance *Instance) {
	port := e.RPCPort
	if port == 0 {
		port = seid.PortRPC
	}
	if err := checkHost(instance.Host); err != nil {
		instance.Problem = err.Error()
		return
	}
	target := "http://" + net.JoinHostPort(instance.Host, strconv.Itoa(int(port)))
	status, err := rpc.New(target, rpc.WithTimeout(rpcTimeout)).Status(ctx)
	if err != nil {
		instance.Problem = fmt.Sprintf("it has no tag %s, and querying its RPC: %v", TagNodeID, err)
		return
	}
	if !nodeIDPattern.MatchString(status.NodeInfo.ID) {
		instance.Problem = fmt.Sprintf("its RPC reports %q, which is not a node ID", status.NodeInfo.ID)
		return
	}
	instance.NodeID = status.NodeInfo.ID
}
