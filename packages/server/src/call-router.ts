import type { CallRouter, ProcessGroup } from '@tool-hub/cluster/service'

export type {
  CallRouter,
  Concern,
  OtherProcesses,
  ProcessGroup,
  RoutedCall,
  SharedEvents,
} from '@tool-hub/cluster/service'

/** The router of a process that answers everything itself. */
export const localRouter: CallRouter<never> = {
  call: ({ caller, tool, input, options }) => caller.hub.callDynamic(tool, input, options),
}

/** A process that is alone with its store. */
export const aloneGroup: ProcessGroup = {
  hasOthers: false,
  isCutOff: false,
  refusesRecords: false,
  runsOfOthers: () => [],
  takeTurn: () => true,
  publishRules() {},
  publishDraining() {},
}
