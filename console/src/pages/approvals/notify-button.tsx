import { Bell, BellOff, BellRing } from 'lucide-react'
import { Button } from '../../components/button.tsx'
import { showFailure } from '../../components/show-failure.ts'
import { notifyState, turnOff, turnOn } from '../../shell/notifications.ts'
import { useValue } from '../../state/create-value.ts'
import styles from './notify-button.module.css'

/** Whether the desktop tells of new asks while the page is hidden; the browser is asked at the first press, never before. */
export function NotifyButton() {
  const state = useValue(notifyState)
  if (state === 'impossible') return null
  if (state === 'refused') {
    return (
      <span className={styles.refused}>
        <BellOff size={14} aria-hidden="true" /> Notifications are blocked in the browser’s settings of this site
      </span>
    )
  }
  const isOn = state === 'on'
  const press = () => (isOn ? turnOff() : turnOn().catch((error) => showFailure('Not turned on', error)))
  return (
    <Button icon={isOn ? BellRing : Bell} aria-pressed={isOn} onClick={press}>
      {isOn ? 'Notifications on' : 'Notify me'}
    </Button>
  )
}
