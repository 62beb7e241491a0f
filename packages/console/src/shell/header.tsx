import { Keyboard, LoaderCircle, LogOut, Monitor, Moon, Sun, Unplug, Wifi } from 'lucide-react'
import { useState } from 'react'
import { useConnection } from '../api/events.ts'
import { signOut, useMe } from '../api/session.ts'
import { Badge } from '../components/badge.tsx'
import { IconButton, KeyHint, Tooltip } from '../components/button.tsx'
import { Dialog } from '../components/dialog.tsx'
import { showFailure } from '../components/toast.tsx'
import { shortcuts, useShortcut } from '../lib/shortcuts.ts'
import { setTheme, theme } from '../lib/theme.ts'
import { useValue } from '../lib/watched-value.ts'
import styles from './shell.module.css'

const THEMES = {
  system: { icon: Monitor, label: 'Theme: system', next: 'light' },
  light: { icon: Sun, label: 'Theme: light', next: 'dark' },
  dark: { icon: Moon, label: 'Theme: dark', next: 'system' },
} as const

/** The state of the connection, the signed-in user, and the actions that every page has. */
export function Header() {
  const { principal, server } = useMe()
  const chosen = THEMES[useValue(theme)]
  const [isHelpOpen, setHelpOpen] = useState(false)
  useShortcut('?', 'Show the keys', () => setHelpOpen(true), { group: 'Everywhere' })
  const leave = () => signOut().catch((error) => showFailure('Not signed out', error))
  return (
    <header className={styles.header}>
      <ConnectionState />
      <span className={styles.version}>{server.version}</span>
      <div className={styles.right}>
        <Tooltip text={`Scopes: ${principal.scopes.join(', ')}`}>
          <span className={styles.principal}>{principal.name}</span>
        </Tooltip>
        <IconButton
          icon={Keyboard}
          label="Keys"
          shortcut="?"
          className={styles.helpButton}
          onClick={() => setHelpOpen(true)}
        />
        <IconButton icon={chosen.icon} label={chosen.label} onClick={() => setTheme(chosen.next)} />
        <IconButton icon={LogOut} label="Sign out" onClick={leave} />
      </div>
      <HelpDialog isOpen={isHelpOpen} onClose={() => setHelpOpen(false)} />
    </header>
  )
}

/** Whether the data on the page is up to date. */
function ConnectionState() {
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

/** The keys of the current page. */
function HelpDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const groups = Map.groupBy(useValue(shortcuts), ({ group }) => group)
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title="Keys" isWide>
      <div className={styles.groups}>
        {[...groups].map(([group, keys]) => (
          <section key={group}>
            <h3>{group}</h3>
            <dl className={styles.keyList}>
              {[...new Map(keys.map((shortcut) => [shortcut.keys, shortcut])).values()].map(({ keys: press, what }) => (
                <div key={press} className={styles.keyRow}>
                  <dt>
                    <span className="visually-hidden">{press}</span>
                    <KeyHint keys={press} />
                  </dt>
                  <dd>{what}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  )
}
