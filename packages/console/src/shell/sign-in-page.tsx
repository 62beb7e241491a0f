import { ApiError } from '@tool-hub/client'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { readHint, signIn } from '../api/session.ts'
import { Button } from '../components/button.tsx'
import { Field } from '../components/field.tsx'
import { Logo } from '../components/logo.tsx'
import styles from './sign-in-page.module.css'

interface SignInPageProps {
  /** The token from the address, which is tried immediately. */
  readonly token?: string
  /** The session has just ended. */
  readonly isLost?: boolean
}

/** Asks for a token. The address does not change, so the requested page is shown afterwards. */
export function SignInPage({ token: given = '', isLost = false }: SignInPageProps) {
  const [token, setToken] = useState(given)
  const [problem, setProblem] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const hasTried = useRef(false)

  const enter = async (secret: string) => {
    setBusy(true)
    setProblem(undefined)
    try {
      await signIn(secret.trim())
    } catch (error) {
      setProblem(inWords(error))
      setBusy(false)
    }
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, with what the address brought.
  useEffect(() => {
    document.title = 'Sign in · tool-hub'
    if (given === '' || hasTried.current) return
    hasTried.current = true
    void enter(given)
  }, [])

  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (token.trim() === '') setProblem('Paste the token first.')
    else void enter(token)
  }
  return (
    <main className={styles.page}>
      <form className={styles.form} onSubmit={submit}>
        <h1 className={styles.title}>
          <Logo /> Sign in to tool-hub
        </h1>
        {isLost && (
          <p className={styles.lost} role="status">
            The session has ended. Sign in again to continue where you were.
          </p>
        )}
        <Field
          label="Token"
          description={
            <>
              <code>tool-hub serve</code> prints one when it starts; an administrator can create more with{' '}
              <code>tool-hub tokens add</code>.
            </>
          }
          problem={problem}
        >
          {(control) => (
            <input
              {...control}
              type="password"
              autoComplete="current-password"
              // biome-ignore lint/a11y/noAutofocus: it is the only thing to do on this page.
              autoFocus
              value={token}
              onChange={(event) => setToken(event.target.value)}
            />
          )}
        </Field>
        <Button type="submit" variant="primary" isBusy={isBusy}>
          {isBusy ? 'Signing in' : 'Sign in'}
        </Button>
      </form>
    </main>
  )
}

function inWords(error: unknown): string {
  if (!(error instanceof ApiError)) return String(error)
  if (error.status === 401 || error.status === 403) {
    return 'This token is unknown, expired or revoked. Use the one that the server printed last.'
  }
  if (error.status === 429) return `Too many attempts. ${readHint(error) ?? 'Wait a minute and try again.'}`
  return [error.message, readHint(error)].filter(Boolean).join(' ')
}

const PREFIX = '#sign-in='

/** Reads the token from the address (`#sign-in=…`), and removes it there, so that it is not in the history. */
export function readSignInToken(): string | undefined {
  const { hash, pathname, search } = window.location
  if (!hash.startsWith(PREFIX)) return undefined
  window.history.replaceState(null, '', `${pathname}${search}`)
  try {
    return decodeURIComponent(hash.slice(PREFIX.length))
  } catch {
    // A malformed link: the form asks for the token.
    return undefined
  }
}
