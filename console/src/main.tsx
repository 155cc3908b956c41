import './shared/layout.css';
import './shared/parts.css';
import './shared/forms.css';
import { QueryClientProvider, useQuery } from '@tanstack/preact-query';
import { render } from 'preact';
import { Router } from 'wouter-preact';
import { CUSTOMER_SCREENS } from './customer/screens.js';
import { FindBox } from './operator/find-box.js';
import { OPERATOR_SCREENS } from './operator/screens.js';
import { CONSOLE_PATH } from './shared/api.js';
import { Frame, recallTheme } from './shared/frame.js';
import { Loading } from './shared/parts.js';
import { queries } from './shared/queries.js';
import { readSession, SESSION_KEY, SessionContext, signIn } from './shared/session.js';
import { SignIn } from './shared/sign-in.js';

const SESSION_CHECKED_EVERY_MS = 60_000;
const PORTAL = '#portal=';

/** A link to the page that opens a session: what it has is used once, and leaves the address. */
async function enterByPortal(): Promise<void> {
  if (!location.hash.startsWith(PORTAL)) return;
  const portal = location.hash.slice(PORTAL.length);
  history.replaceState(null, '', location.pathname + location.search);
  await signIn({ portal });
}

function Console() {
  const { data, error } = useQuery({
    queryKey: SESSION_KEY,
    queryFn: readSession,
    refetchInterval: SESSION_CHECKED_EVERY_MS,
  });
  if (data === undefined) {
    return error === null ? (
      <Loading />
    ) : (
      <SignIn ways={{ operator: true, oidc: false }} error={error} />
    );
  }
  if (data.kind === 'nobody') return <SignIn ways={data.sign_in} error={portalProblem} />;
  const isOperator = data.kind === 'operator';
  return (
    <SessionContext.Provider value={data}>
      <Router base={CONSOLE_PATH}>
        <Frame
          screens={isOperator ? OPERATOR_SCREENS : CUSTOMER_SCREENS}
          search={isOperator && <FindBox />}
        />
      </Router>
    </SessionContext.Provider>
  );
}

let portalProblem: unknown;

async function start(): Promise<void> {
  recallTheme();
  await enterByPortal().catch((problem: unknown) => {
    portalProblem = problem;
  });
  const place = document.getElementById('page');
  if (place === null) throw new Error('The document has no place for the page.');
  render(
    <QueryClientProvider client={queries}>
      <Console />
    </QueryClientProvider>,
    place,
  );
}

void start();
