import { CSPProvider } from '@base-ui/react/csp-provider'
import { useEffect, useState } from 'react'
import { session } from './api/session.ts'
import { resumeSession } from './api/sign-in.ts'
import { ErrorState } from './components/error-state.tsx'
import { Skeleton } from './components/skeleton.tsx'
import { Toaster } from './components/toaster.tsx'
import { readSignInToken } from './pages/sign-in/read-sign-in-token.ts'
import { SignInPage } from './pages/sign-in/sign-in-page.tsx'
import { Shell } from './shell/shell.tsx'
import { createValue, useValue } from './state/create-value.ts'

/** From the address, also when a link is opened in this tab while the page is there. */
const signInToken = createValue(readSignInToken())
window.addEventListener('hashchange', () => {
  const token = readSignInToken()
  if (token === undefined) return
  signInToken.set(token)
  session.set({ state: 'unknown' })
})

/** The console: the sign-in page until somebody is known, then the shell. */
export function App() {
  return (
    <CSPProvider disableStyleElements>
      <Door />
      <Toaster />
    </CSPProvider>
  )
}

function Door() {
  const current = useValue(session)
  const token = useValue(signInToken)
  const [error, setError] = useState<Error>()
  const [attempt, setAttempt] = useState(0)
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new attempt is what asks again.
  useEffect(() => {
    setError(undefined)
    if (signInToken.get() === undefined) resumeSession().catch(setError)
  }, [attempt])

  if (current.state === 'signed-in') return <Shell />
  if (current.state === 'signed-out') return <SignInPage isLost={current.lost} />
  if (token !== undefined) return <SignInPage key={token} token={token} />
  if (error) return <ErrorState error={error} onRetry={() => setAttempt(attempt + 1)} />
  return <Skeleton lines={3} />
}
