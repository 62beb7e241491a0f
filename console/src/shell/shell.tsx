import { Suspense, useEffect } from 'react'
import { openEvents } from '../api/event-stream.ts'
import { Skeleton } from '../components/skeleton.tsx'
import { listenForShortcuts } from '../keyboard/shortcuts.ts'
import { NotFoundPage } from '../pages/not-found/not-found-page.tsx'
import { matchPath, usePath } from '../router/router.ts'
import { ROUTES } from '../router/routes.tsx'
import { ErrorBoundary } from './error-boundary.tsx'
import { Header } from './header.tsx'
import { LostBanner } from './lost-banner.tsx'
import { Navigation } from './navigation.tsx'
import styles from './shell.module.css'
import { useAskNotifications } from './use-ask-notifications.ts'
import { useDocumentTitle } from './use-document-title.ts'
import { useUnread } from './use-unread.ts'
import { useWaiting } from './use-waiting.ts'

/** Everything around the page: navigation, header, keys, the stream of events. */
export function Shell() {
  const path = usePath()
  const waiting = useWaiting()
  const unread = useUnread()
  useDocumentTitle(waiting)
  useAskNotifications()
  useEffect(openEvents, [])
  useEffect(listenForShortcuts, [])
  return (
    <div className={styles.shell}>
      <a href="#main" className={styles.skip}>
        Skip to the page
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
  for (const [pattern, Page] of ROUTES) {
    const params = matchPath(pattern, path)
    if (params) return <Page params={params} />
  }
  return <NotFoundPage />
}
