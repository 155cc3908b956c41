import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { ApiProblem, CONSOLE_PATH, problemOf } from './api.js';
import { pollHeader } from './use.js';

/** Key of the query for the session. */
export const SESSION_KEY = ['session'] as const;

/** How somebody may sign in; `refused`: why nobody can, and what to set. */
export interface SignInWays {
  readonly operator: boolean;
  readonly oidc: boolean;
  readonly refused?: string | null;
}

/** Who is signed in. Times are epoch seconds. */
export interface Session {
  readonly kind: 'operator' | 'customer';
  readonly role: 'viewer' | 'support' | 'finance' | 'admin' | null;
  readonly person: string | null;
  readonly account_id: string | null;
  readonly key_id: string | null;
  readonly scopes: readonly string[];
  readonly reads_only: boolean;
  readonly expires_at: number;
  readonly proof_until: number | null;
  readonly sign_in: SignInWays;
}

/** Nobody is signed in. */
export interface SignedOut {
  readonly kind: 'nobody';
  readonly sign_in: SignInWays;
}

/** What somebody signs in with. */
export type Credentials =
  { readonly token: string } | { readonly api_key: string } | { readonly portal: string };

const PATH = `${CONSOLE_PATH}/session`;
const NO_WAYS: SignInWays = { operator: false, oidc: false };

async function request(path: string, method: string, body?: object): Promise<Response> {
  const type = body && { 'content-type': 'application/json' };
  const sent = {
    headers: { ...pollHeader(), ...type },
    ...(body && { body: JSON.stringify(body) }),
  };
  return fetch(path, { method, credentials: 'same-origin', ...sent }).catch(() => {
    throw new ApiProblem('The gateway cannot be reached.', 0);
  });
}

async function answerIn<T>(response: Response): Promise<T> {
  const body: unknown = await response.json().catch(() => undefined);
  if (!response.ok) throw problemOf(response, body);
  return body as T;
}

/** Who is signed in, or how somebody may. */
export async function readSession(): Promise<Session | SignedOut> {
  const response = await request(PATH, 'GET');
  if (response.status !== 401) return answerIn(response);
  const { sign_in: ways = NO_WAYS } = (await response.json()) as { sign_in?: SignInWays };
  return { kind: 'nobody', sign_in: ways };
}

/** Opens a session. */
export const signIn = async (by: Credentials): Promise<Session> =>
  answerIn(await request(PATH, 'POST', by));

/** The id of the account that a link lets in. It does not use the link up. */
export async function accountOfLink(portal: string): Promise<string> {
  const answer = await request(`${PATH}/portal`, 'POST', { portal });
  return (await answerIn<{ readonly account_id: string }>(answer)).account_id;
}

/** Proves anew that the operator is there, for acts on money. */
export const prove = async (token: string): Promise<Session> =>
  answerIn(await request(`${PATH}/proof`, 'POST', { token }));

/** How the page names whose session it is. */
export const nameOf = ({ kind, role, person, account_id: account }: Session): string =>
  kind === 'operator' ? `${person ?? 'Operator'}, ${role ?? ''}` : (account ?? '');

/** Ends the session, here and on the gateway. */
export async function signOut(): Promise<void> {
  const response = await request(PATH, 'DELETE');
  if (!response.ok && response.status !== 401) throw problemOf(response, undefined);
}

/** Where an operator signs in by the identity provider, and proves to be there. */
export const oidcUrl = (isProof = false): string => {
  const back = encodeURIComponent(location.pathname + location.search);
  return `${CONSOLE_PATH}/oidc/start?${isProof ? 'proof=1&' : ''}return=${back}`;
};

/** The session of the screens that are open. */
export const SessionContext = createContext<Session | undefined>(undefined);

/** The session that is open; only inside the frame of the screens. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === undefined) throw new Error('no session is open');
  return session;
}

/** Whether the customer may read what is offered, and for how much. */
export function useMayReadOffers(): boolean {
  const { scopes } = useSession();
  return scopes.includes('read') || scopes.includes('call');
}

/** Whether the customer may call what is sold. */
export function useMayCall(): boolean {
  return useSession().scopes.includes('call');
}

/** Whether the customer may see and change keys, receivers of events, and the alert of the balance. */
export function useMayManage(): boolean {
  return useSession().scopes.includes('manage');
}

const ROLES = ['viewer', 'support', 'finance', 'admin'] as const;

/** Whether the operator may do what needs a role. */
export function useMay(role: (typeof ROLES)[number]): boolean {
  const { role: own } = useSession();
  return own !== null && ROLES.indexOf(own) >= ROLES.indexOf(role);
}
