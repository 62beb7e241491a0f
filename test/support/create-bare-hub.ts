import { connectMachines } from '@tool-hub/cluster'
import type { HubOptions } from '@tool-hub/core'
import { features } from '@tool-hub/library/generated/list'
import { createHub, type Hub } from '@tool-hub/runtime/hub'
import { featureStores } from '../../packages/library/src/generated/stores/index.ts'

/** A hub with all features and none of the built-in tools. */
export function createBareHub(options: HubOptions): Hub {
  return createHub(options, { builtins: [], features, tables: featureStores, machines: connectMachines })
}
