import './shared/layout.css';
import './shared/parts.css';
import './shared/forms.css';
import { QueryClientProvider, useQuery } from '@tanstack/preact-query';
import { render } from 'preact';
import { useState } from 'preact/hooks';
import { Router } from 'wouter-preact';
import { CUSTOMER_SCREENS } from './customer/screens.js';
import { FindBox } from './operator/find-box.js';
import { OPERATOR_SCREENS } from './operator/screens.js';
import { CONSOLE_PATH } from './shared/api.js';
import { Frame, recallTheme } from './shared/frame.js';
import { Loading } from './shared/parts.js';
import { queries } from './shared/queries.js';
import {
  accountOfLink,
  readSession,
  SESSION_KEY,
  SessionContext,
  signIn,
} from './shared/session.js';
import { EnterByLink, type PortalLink, SignIn } from './shared/sign-in.js';
import { noteActs } from './shared/use.js';

const SESSION_CHECKED_EVERY_MS = 60_000;
const PORTAL = '#portal=';

/** A link that waits for an answer. */
let asked: PortalLink | undefined;

/**
 * A link to the page that opens a session: what it has is used once, and leaves the address. Where somebody is signed in the page
 * asks first, for anybody may have sent the link.
 */
async function enterByPortal(): Promise<void> {
  if (!location.hash.startsWith(PORTAL)) return;
  const portal = location.hash.slice(PORTAL.length);
  history.replaceState(null, '', location.pathname + location.search);
  const { kind } = await readSession();
  if (kind === 'nobody') await signIn({ portal });
  else asked = { portal, account: await accountOfLink(portal) };
}

type SessionAnswer = Awaited<ReturnType<typeof readSession>>;

const holderOf = (session: SessionAnswer): string =>
  session.kind === 'nobody'
    ? ''
    : [session.kind, session.role, session.person, session.account_id, session.key_id].join();
let holder: string | undefined;

/** Who is signed in; what the session of somebody else read is forgotten, such as after a sign-in in another tab. */
async function readSessionAnew(): Promise<SessionAnswer> {
  const session = await readSession();
  if (holder !== undefined && holder !== holderOf(session)) {
    queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== SESSION_KEY[0] });
  }
  holder = holderOf(session);
  return session;
}

function Console() {
  const [link, setLink] = useState(asked);
  const { data, error } = useQuery({
    queryKey: SESSION_KEY,
    queryFn: readSessionAnew,
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
  if (link !== undefined) {
    const close = () => {
      setLink(undefined);
    };
    return <EnterByLink link={link} session={data} onEnd={close} />;
  }
  const isOperator = data.kind === 'operator';
  return (
    <SessionContext.Provider value={data}>
      <Router base={CONSOLE_PATH}>
        <Frame
          key={holderOf(data)}
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
  noteActs();
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
