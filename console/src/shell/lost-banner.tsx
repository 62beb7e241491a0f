import { Unplug } from 'lucide-react'
import { reconnectNow } from '../api/event-stream.ts'
import { useConnection } from '../api/use-events.ts'
import { Button } from '../components/button.tsx'
import { Time } from '../components/time.tsx'
import styles from './lost-banner.module.css'

/** The server has been away for a while: since when, what that means, and what to do. */
export function LostBanner() {
  const { state, since } = useConnection()
  if (state !== 'lost') return null
  return (
    <div className={styles.banner} role="alert">
      <Unplug size={16} aria-hidden="true" />
      <p>
        <strong>
          No answer from the server; last heard <Time at={since} />.
        </strong>{' '}
        What you see is from then. Check that <code>tool-hub serve</code> runs; this page goes on by itself.
      </p>
      <Button size="small" onClick={reconnectNow}>
        Try now
      </Button>
    </div>
  )
}
