import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Link, Route, Switch, useLocation } from 'wouter-preact';
import { Empty, ScreenHead } from './parts.js';
import { queries } from './queries.js';
import { LoadedScreen, type Screen } from './screens.js';
import { nameOf, SESSION_KEY, signOut, useSession } from './session.js';
import { tell, Told } from './told.js';

const THEME = 'shim-theme';

/** The frame of all screens: the bar with the search, the list of screens, and the screen that is open. */
export function Frame(props: {
  readonly screens: readonly Screen[];
  readonly search?: ComponentChildren;
}) {
  return (
    <div class="frame">
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <header class="top">
        <Link class="brand" href="/">
          Shim
        </Link>
        {props.search}
        <Who />
      </header>
      <ScreenList screens={props.screens} />
      <main class="main" id="main">
        <Switch>
          {props.screens.map(({ path, load }) => (
            <Route path={path} key={path}>
              <LoadedScreen load={load} />
            </Route>
          ))}
          <Route>
            <ScreenHead title="No such screen" answers="This address has no screen." />
            <Empty>
              <Link href="/">Open the first screen</Link>
            </Empty>
          </Route>
        </Switch>
      </main>
      <Told />
    </div>
  );
}

function ScreenList({ screens }: { readonly screens: readonly Screen[] }) {
  const [path] = useLocation();
  const list = useRef<HTMLElement>(null);
  // On a narrow page the list is wider than the page.
  useEffect(() => {
    list.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' });
  }, [path]);
  const isOpen = ({ path: own, within = [own] }: Screen) =>
    within.some((part) => path === part || (part !== '/' && path.startsWith(`${part}/`)));
  return (
    <nav class="screens" aria-label="Screens" ref={list}>
      <ul>
        {screens
          .filter(({ name }) => name !== undefined)
          .map((screen) => (
            <li>
              <Link href={screen.path} aria-current={isOpen(screen) ? 'page' : undefined}>
                {screen.name}
              </Link>
            </li>
          ))}
      </ul>
    </nav>
  );
}

function Who() {
  const name = nameOf(useSession());
  const leave = () => {
    signOut().then(
      () => {
        queries.clear();
        void queries.invalidateQueries({ queryKey: SESSION_KEY });
        location.reload();
      },
      (error: unknown) => {
        tell(String(error));
      },
    );
  };
  return (
    <div class="who">
      <Theme />
      <span class="person">{name}</span>
      <button type="button" onClick={leave}>
        Sign out
      </button>
    </div>
  );
}

/** Light, dark, or as the system has it. */
function Theme() {
  const [theme, setTheme] = useState(document.documentElement.dataset.theme ?? '');
  const choose = (value: string) => {
    setTheme(value);
    applyTheme(value);
    localStorage.setItem(THEME, value);
  };
  return (
    <label>
      <span class="only-read">Colours</span>
      <select
        value={theme}
        onChange={(event) => {
          choose(event.currentTarget.value);
        }}
      >
        <option value="">System</option>
        <option value="light">Light</option>
        <option value="dark">Dark</option>
      </select>
    </label>
  );
}

function applyTheme(value: string): void {
  if (value === '') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = value;
}

/** The colours that were chosen in this browser. */
export function recallTheme(): void {
  applyTheme(localStorage.getItem(THEME) ?? '');
}
