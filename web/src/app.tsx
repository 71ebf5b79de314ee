// The frame around every page: navigation, connection, theme, who is signed in.

import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { type Meter, type MeterName, whose } from './api';
import { Badge, Failed, Loading } from './parts/basics';
import * as show from './format';
import { Administration } from './pages/administration';
import { AlertsPage } from './pages/alerts';
import { ConsumptionPage } from './pages/consumption';
import { FirmwarePage } from './pages/firmware';
import { MeterPage } from './pages/meter';
import { OtherMeterPage } from './pages/other';
import { Overview } from './pages/overview';
import { FirstSignIn, SignIn } from './pages/signin';
import { Secret } from './parts/secret';
import { type Route, linkSecret, useRoute } from './router';
import { MOST_ALERTS, type State, store, useEvents, useStore } from './store';
import { type Choice, choose, useTheme } from './theme';
import { calledIn, causeName } from './words';

const PAGES: readonly { page: Route['page']; name: string; link: string; icon: string }[] = [
  { page: 'overview', name: 'Overview', link: '#/', icon: 'M3 3h8v8H3zM13 3h8v8h-8zM3 13h8v8H3zM13 13h8v8h-8z' },
  { page: 'consumption', name: 'Consumption', link: '#/consumption', icon: 'M3 21V11h4v10zM10 21V4h4v17zM17 21v-7h4v7z' },
  {
    page: 'alerts',
    name: 'Alerts',
    link: '#/alerts',
    icon: 'M12 2 1 21h22zM11 9h2v6h-2zM11 17h2v2h-2z',
  },
  {
    page: 'firmware',
    name: 'Firmware',
    link: '#/firmware',
    icon: 'M8 2h2v3h4V2h2v3h3v3h3v2h-3v4h3v2h-3v3h-3v3h-2v-3h-4v3H8v-3H5v-3H2v-2h3v-4H2V8h3V5h3zM8 8v8h8V8z',
  },
  {
    page: 'administration',
    name: 'Administration',
    link: '#/administration',
    icon: 'M12 2 4 5v6c0 5 3.4 9.7 8 11 4.600-1.300 8-6 8-11V5z',
  },
];

function titleOf(route: Route, meters: ReadonlyMap<MeterName, Meter>): string {
  switch (route.page) {
    case 'meter':
      return calledIn(meters, route.meter);
    case 'other':
      return route.meter;
    case 'unknown':
      return 'No such page';
    default:
      return PAGES.find(({ page }) => page === route.page)?.name ?? '';
  }
}

export function App(): JSX.Element {
  const state = useStore();
  useEffect(() => {
    void store.start();
    const hurry = (): void => {
      if (document.visibilityState === 'visible') store.hurry();
    };
    // A link that is pasted into the address of a page that is open loads nothing anew.
    const opened = (): void => {
      if (linkSecret(location.hash) !== null) void store.start();
    };
    window.addEventListener('hashchange', opened);
    window.addEventListener('online', hurry);
    document.addEventListener('visibilitychange', hurry);
    return () => {
      window.removeEventListener('hashchange', opened);
      window.removeEventListener('online', hurry);
      document.removeEventListener('visibilitychange', hurry);
    };
  }, []);

  return (
    <>
      {state.session === undefined ? (
        <main class="alone">
          {state.sessionError === null ? (
            <Loading what="the dashboard" />
          ) : (
            <>
              <h1>WattSeal</h1>
              <Failed error={state.sessionError} retry={() => void store.start()} />
            </>
          )}
        </main>
      ) : state.session === null ? (
        <main class="alone">
          {state.noAdministrator ? <FirstSignIn failed={state.linkError} /> : <SignIn failed={state.linkError} />}
        </main>
      ) : (
        <Dashboard state={state} />
      )}
      <Said text={state.said} />
    </>
  );
}

/** What the screen reader is told; written when it changes and never otherwise, so that nothing is read twice. */
function Said({ text }: { text: string }): JSX.Element {
  const place = useRef<HTMLParagraphElement>(null);
  useEffect(() => {
    if (place.current !== null) place.current.textContent = text;
  }, [text]);
  return <p ref={place} class="hidden" role="status" />;
}

function Dashboard({ state }: { state: State }): JSX.Element {
  const route = useRoute();
  const administrator = state.session?.role === 'administrator';
  const title = titleOf(route, state.meters);
  const heading = useRef<HTMLHeadingElement>(null);
  const first = useRef(true);
  const alerts = state.openAlerts ?? 0;
  const where = JSON.stringify(route);

  useEffect(() => {
    document.title = route.page === 'overview' ? 'WattSeal' : `${title} · WattSeal`;
  }, [title, where]);
  useEffect(() => {
    // A new page is read from its heading on, and seen from its top.
    if (!first.current) {
      heading.current?.focus({ preventScroll: true });
      window.scrollTo(0, 0);
    }
    first.current = false;
  }, [where]);
  useEvents((event) => {
    if (event.event !== 'alert') return;
    const meter = whose(event);
    const called = meter === null ? 'Collector' : calledIn(store.state.meters, meter);
    store.say(`Alert. ${called}: ${causeName(event.cause)}.`);
  }, []);

  return (
    <>
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          heading.current?.focus();
        }}
      >
        To the content
      </a>
      <header class="top">
        <a class="brand" href="#/">
          <svg viewBox="0 0 32 32" aria-hidden="true">
            <rect width="32" height="32" rx="7" />
            <path d="M18 3 7 18h7l-2 11 12-16h-7z" />
          </svg>
          WattSeal
        </a>
        <nav aria-label="Pages">
          <ul>
            {PAGES.filter(({ page }) => page !== 'administration' || administrator).map(({ page, name, link, icon }) => (
              <li key={page}>
                <a
                  href={link}
                  aria-current={route.page === page ? 'page' : undefined}
                >
                  <svg viewBox="0 0 24 24" aria-hidden="true">
                    <path d={icon} fill-rule="evenodd" />
                  </svg>
                  <span>{name}</span>{' '}
                  {page === 'alerts' && alerts > 0 && (
                    <span class="count">
                      {alertsShown(alerts)}
                      <span class="hidden">{' open'}</span>
                    </span>
                  )}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <div class="top-right">
          <ConnectionBadge state={state} />
          <ThemeSwitch />
        </div>
      </header>
      {state.connection === 'lost' && (
        <div class="note warn banner">
          <p>The connection to the collector is lost; what is shown is from before. The dashboard keeps trying.</p>
          <button type="button" class="small" onClick={() => store.hurry()}>
            Try now
          </button>
        </div>
      )}
      <main id="main">
        {state.firstToken !== null && (
          <Secret token={state.firstToken} onClose={() => store.firstTokenSeen()}>
            You are signed in with it in this browser, and sign in with it in others. The link is used up.
          </Secret>
        )}
        {(route.page === 'meter' || route.page === 'other') && (
          <p class="way">
            <a href="#/">‹ All meters</a>
          </p>
        )}
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        <Page route={route} administrator={administrator} />
      </main>
      <footer>
        <span>
          {state.session?.name} ({state.session?.role})
        </span>
        <button
          type="button"
          class="link"
          onClick={() => void store.signOut().catch(() => store.say('Signing out failed; try again.'))}
        >
          Sign out
        </button>
        {state.version !== '' && <span>WattSeal {state.version}</span>}
        <a href={`${store.api.base}/openapi.json`}>API</a>
      </footer>
    </>
  );
}

function Page({ route, administrator }: { route: Route; administrator: boolean }): JSX.Element {
  switch (route.page) {
    case 'overview':
      return <Overview />;
    case 'meter':
      return <MeterPage key={route.meter} id={route.meter} />;
    case 'other':
      return <OtherMeterPage key={route.meter} meter={route.meter} />;
    case 'consumption':
      return <ConsumptionPage />;
    case 'alerts':
      return <AlertsPage />;
    case 'firmware':
      return <FirmwarePage administrator={administrator} />;
    case 'administration':
      return administrator ? (
        <Administration />
      ) : (
        <p class="note warn">This page is for administrators. Sign in with an administrator’s token to see it.</p>
      );
    case 'unknown':
      return (
        <p>
          There is nothing here. <a href="#/">To the overview</a>
        </p>
      );
  }
}

function ConnectionBadge({ state }: { state: State }): JSX.Element {
  switch (state.connection) {
    case 'live':
      return <Badge tone="good">Live</Badge>;
    case 'connecting':
      return <Badge tone="plain">Connecting</Badge>;
    case 'lost':
      return <Badge tone="bad">Not connected</Badge>;
  }
}

function alertsShown(alerts: number): string {
  return alerts < MOST_ALERTS ? show.count(alerts) : `${show.count(MOST_ALERTS)}+`;
}

function ThemeSwitch(): JSX.Element {
  const { choice } = useTheme();
  return (
    <label class="theme">
      <span class="hidden">Colours</span>
      <select value={choice} onChange={(event) => choose(event.currentTarget.value as Choice)}>
        <option value="system">Auto</option>
        <option value="light">Light</option>
        <option value="dark">Dark</option>
      </select>
    </label>
  );
}
