import { Keyboard, LogOut, Monitor, Moon, Sun } from 'lucide-react'
import { useState } from 'react'
import { signOut } from '../api/sign-in.ts'
import { useMe } from '../api/use-me.ts'
import { IconButton } from '../components/icon-button.tsx'
import { showFailure } from '../components/show-failure.ts'
import { Tooltip } from '../components/tooltip.tsx'
import { useShortcut } from '../keyboard/use-shortcut.ts'
import { useValue } from '../state/create-value.ts'
import { setTheme, theme } from '../theme/theme.ts'
import { ConnectionState } from './connection-state.tsx'
import styles from './header.module.css'
import { HelpDialog } from './help-dialog.tsx'

const THEMES = {
  system: { icon: Monitor, label: 'Theme: as the system', next: 'light' },
  light: { icon: Sun, label: 'Theme: light', next: 'dark' },
  dark: { icon: Moon, label: 'Theme: dark', next: 'system' },
} as const

/** State of the server, who is signed in, and what holds everywhere. */
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
        <Tooltip text={`May ${principal.scopes.join(', ')}`}>
          <span className={styles.principal}>{principal.name}</span>
        </Tooltip>
        <IconButton
          icon={Keyboard}
          label="Keys"
          shortcut="?"
          className={styles.keys}
          onClick={() => setHelpOpen(true)}
        />
        <IconButton icon={chosen.icon} label={chosen.label} onClick={() => setTheme(chosen.next)} />
        <IconButton icon={LogOut} label="Sign out" onClick={leave} />
      </div>
      <HelpDialog isOpen={isHelpOpen} onClose={() => setHelpOpen(false)} />
    </header>
  )
}
