import { LoaderCircle, Unplug, Wifi } from 'lucide-react'
import { useConnection } from '../api/use-events.ts'
import { Badge } from '../components/badge.tsx'

/** Whether what is shown is what is so now. */
export function ConnectionState() {
  const { state } = useConnection()
  return (
    <span role="status">
      {state === 'connected' && (
        <Badge tone="ok" icon={Wifi}>
          connected
        </Badge>
      )}
      {state === 'connecting' && <Badge icon={LoaderCircle}>connecting</Badge>}
      {state === 'reconnecting' && (
        <Badge tone="warn" icon={LoaderCircle}>
          reconnecting
        </Badge>
      )}
      {state === 'lost' && (
        <Badge tone="bad" icon={Unplug}>
          server lost
        </Badge>
      )}
    </span>
  )
}
