import { SearchX, Unplug } from 'lucide-react'
import { Component, type ReactNode, Suspense, useEffect } from 'react'
import { Link, matchRoute, useRouter } from 'wouter'
import { useUnread, useWaiting } from '../api/counts.ts'
import { openEvents, reconnectNow, useConnection } from '../api/events.ts'
import { Button } from '../components/button.tsx'
import { Page, pageTitle } from '../components/page.tsx'
import { EmptyState, ErrorState, Skeleton } from '../components/states.tsx'
import { Time } from '../components/time.tsx'
import { listenForShortcuts } from '../lib/shortcuts.ts'
import { useValue } from '../lib/watched-value.ts'
import { decodeParams, usePath } from '../router/router.ts'
import { ROUTES } from '../router/routes.tsx'
import { Header } from './header.tsx'
import { Navigation } from './navigation.tsx'
import { useNotifications } from './notifications.ts'
import styles from './shell.module.css'

/** Everything around the page: navigation, header, keys, event stream. */
export function Shell() {
  const path = usePath()
  const waiting = useWaiting()
  const unread = useUnread()
  useDocumentTitle(waiting)
  useNotifications()
  useEffect(openEvents, [])
  useEffect(listenForShortcuts, [])
  return (
    <div className={styles.shell}>
      <a href="#main" className={styles.skip}>
        Skip to content
      </a>
      <Navigation path={path} counts={{ '/approvals': [waiting, 'waiting'], '/inbox': [unread, 'unread'] }} />
      <div className={styles.side}>
        <Header />
        <LostBanner />
        <main id="main" className={styles.main} tabIndex={-1}>
          <ErrorBoundary key={path.split('/')[1]}>
            <Suspense fallback={<Skeleton />}>
              <CurrentPage path={path} />
            </Suspense>
          </ErrorBoundary>
        </main>
      </div>
    </div>
  )
}

function CurrentPage({ path }: { path: string }) {
  const { parser } = useRouter()
  for (const [pattern, Page] of ROUTES) {
    const [isMatch, params] = matchRoute(parser, pattern, path)
    const decoded = isMatch && decodeParams(params)
    if (decoded) return <Page params={decoded} />
  }
  return <NotFoundPage />
}

/** Sets the title of the browser tab, with the number of pending approvals: “(3) Live · tool-hub”. */
function useDocumentTitle(waiting: number): void {
  const title = useValue(pageTitle)
  useEffect(() => {
    document.title = `${waiting > 0 ? `(${waiting}) ` : ''}${title === '' ? '' : `${title} · `}tool-hub`
  }, [title, waiting])
}

/** Shown while the server does not respond: since when, and what to do. */
function LostBanner() {
  const { state, since } = useConnection()
  if (state !== 'lost') return null
  return (
    <div className={styles.banner} role="alert">
      <Unplug size={16} aria-hidden="true" />
      <p>
        <strong>
          The server does not respond; last seen <Time at={since} />.
        </strong>{' '}
        The page may be outdated. Check that <code>tool-hub serve</code> is running; the page reconnects automatically.
      </p>
      <Button size="small" onClick={reconnectNow}>
        Try now
      </Button>
    </div>
  )
}

interface State {
  readonly error?: Error
}

/** Shows the error of a page that fails to render; the rest of the console keeps working. */
class ErrorBoundary extends Component<{ children: ReactNode }, State> {
  override state: State = {}

  static getDerivedStateFromError(error: unknown): State {
    return { error: error instanceof Error ? error : new Error(String(error)) }
  }

  override render() {
    const { error } = this.state
    // After an update of the server, the file of a page may no longer exist: reloading gets the new one.
    if (error) return <ErrorState error={error} onRetry={() => window.location.reload()} />
    return this.props.children
  }
}

/** No page has this address. */
function NotFoundPage() {
  return (
    <Page title="Not found">
      <EmptyState icon={SearchX} title="Page not found">
        It may have been mistyped or cut off. See what happens <Link to="/live">now</Link>, or look through the{' '}
        <Link to="/runs">runs</Link>.
      </EmptyState>
    </Page>
  )
}
