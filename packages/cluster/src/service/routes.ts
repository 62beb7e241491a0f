import { defineFeatureRoute, type FeatureRoutes } from '@tool-hub/core'
import { clusterState } from '@tool-hub/core/protocol'
import { describeCluster } from './cluster-group.ts'

/** The HTTP route of the processes that share the store. */
export const machineRoutes: FeatureRoutes = {
  schemas: { Cluster: clusterState },
  routes: [
    defineFeatureRoute({
      method: 'get',
      path: '/v1/cluster',
      client: 'cluster',
      summary: 'The processes that share the store, their leases and queues',
      allow: ['read'],
      answers: [{ description: 'Empty lists if the service is alone with its store', schema: clusterState }],
      handle: ({ hub: { cluster, sharing }, store }) =>
        describeCluster({ cluster, store, records: sharing, now: cluster?.now() ?? 0 }),
    }),
  ],
}
