import { useEvents } from '../api/events.ts'
import { api } from '../api/session.ts'
import type { CallDetail } from '../api/types.ts'
import { type Resource, useResource } from '../api/use-resource.ts'
import { Drawer } from '../components/dialog.tsx'
import { Loaded } from '../components/resource.tsx'
import { VisibleText } from '../components/text.tsx'
import { useSettled } from '../lib/hooks.ts'
import { CallDetails, type CallPlace } from './call-details.tsx'

interface CallDrawerProps extends CallPlace {
  readonly callId: string | undefined
  readonly onClose: () => void
}

/** A call in a drawer next to a list; j and k move to the next call without closing it. */
export function CallDrawer({ callId, ...rest }: CallDrawerProps) {
  if (callId === undefined) return null
  return <OpenDrawer callId={callId} {...rest} />
}

function OpenDrawer({ callId, onClose, ...place }: CallDrawerProps & { callId: string }) {
  const query = useCallDetail(callId)
  const tool = query.data?.call.tool
  return (
    <Drawer
      isOpen
      onClose={onClose}
      title={tool === undefined ? 'Call' : <VisibleText text={tool} />}
      isWide
      keepsShortcuts
    >
      <Loaded query={query}>{(detail) => <CallDetails detail={detail} {...place} />}</Loaded>
    </Drawer>
  )
}

/** The record of a call, fetched again when the call progresses. Debounced, since a held key passes many calls. */
export function useCallDetail(callId: string): Resource<CallDetail> {
  const settled = useSettled(callId)
  const query = useResource(['call', settled], () => api.calls.get(settled))
  // Only for events of this call: the service reads the whole record of the run for each response.
  useEvents((event) => event.type === 'call' && event.call.callId === settled && query.refresh(), ['call'])
  if (settled === callId) return query
  // Never shows the details of one call under the name of another.
  return { ...query, data: undefined, error: undefined }
}
