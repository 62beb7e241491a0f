import { CSPProvider } from '@base-ui/react/csp-provider'
import { QueryClientProvider } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { Router } from 'wouter'
import { queryClient } from './api/query-client.ts'
import { resumeSession, session } from './api/session.ts'
import { ErrorState, Skeleton } from './components/states.tsx'
import { Toaster } from './components/toast.tsx'
import { createValue, useValue } from './lib/watched-value.ts'
import { navigate } from './router/router.ts'
import { Shell } from './shell/shell.tsx'
import { readSignInToken, SignInPage } from './shell/sign-in-page.tsx'

/** The token in the address, even if a sign-in link is opened while the page is shown. */
const signInToken = createValue(readSignInToken())
window.addEventListener('hashchange', () => {
  const token = readSignInToken()
  if (token === undefined) return
  signInToken.set(token)
  session.set({ state: 'unknown' })
})

/** The console: the sign-in page until the user is known, then the shell. */
export function App() {
  return (
    <CSPProvider disableStyleElements>
      <QueryClientProvider client={queryClient}>
        <Router aroundNav={(_, to, options) => navigate(to, options)}>
          <Main />
        </Router>
      </QueryClientProvider>
      <Toaster />
    </CSPProvider>
  )
}

function Main() {
  const current = useValue(session)
  const token = useValue(signInToken)
  const [error, setError] = useState<Error>()
  const [attempt, setAttempt] = useState(0)
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new attempt tries again.
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
