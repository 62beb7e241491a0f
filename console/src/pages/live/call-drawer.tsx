import { api } from '../../api/api.ts'
import { useEvents } from '../../api/use-events.ts'
import { useQuery } from '../../api/use-query.ts'
import { Drawer } from '../../components/drawer.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { VisibleText } from '../../components/visible-text.tsx'
import { CallDetails } from './call-details.tsx'

/** One call beside the list; j and k go on to the next without closing it. */
export function CallDrawer({ callId, onClose }: { callId: string | undefined; onClose: () => void }) {
  if (callId === undefined) return null
  return <OpenDrawer callId={callId} onClose={onClose} />
}

function OpenDrawer({ callId, onClose }: { callId: string; onClose: () => void }) {
  const query = useQuery(`calls one ${callId}`, () => api.calls.get(callId))
  // Only for its own events: the service reads the record of the run for every answer.
  useEvents((event) => event.type === 'call' && event.call.callId === callId && query.refresh(), ['call'])
  const tool = query.data?.call.tool
  return (
    <Drawer
      isOpen
      onClose={onClose}
      title={tool === undefined ? 'Call' : <VisibleText text={tool} />}
      isWide
      keepsShortcuts
    >
      <Loaded query={query}>{(detail) => <CallDetails detail={detail} />}</Loaded>
    </Drawer>
  )
}
