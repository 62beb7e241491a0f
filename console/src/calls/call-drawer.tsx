import { Drawer } from '../components/drawer.tsx'
import { Loaded } from '../components/loaded.tsx'
import { VisibleText } from '../components/visible-text.tsx'
import { CallDetails, type CallPlace } from './call-details.tsx'
import { useCallDetail } from './use-call-detail.ts'

interface CallDrawerProps extends CallPlace {
  readonly callId: string | undefined
  readonly onClose: () => void
}

/** One call beside a list; j and k go on to the next without closing it. */
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
