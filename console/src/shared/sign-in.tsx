import { useState } from 'preact/hooks';
import type { TargetedSubmitEvent } from 'preact';
import { Problem } from './parts.js';
import { queries } from './queries.js';
import {
  type Credentials,
  nameOf,
  oidcUrl,
  type Session,
  SESSION_KEY,
  signIn,
  type SignInWays,
} from './session.js';

/** What the gateway writes into the address; other words there are those of whoever made the link. */
const PROBLEMS: Readonly<Record<string, string>> = {
  too_late: 'Signing in took too long, or began elsewhere. Try again.',
  no_role: 'You have no role here. Ask who keeps the gateway.',
  not_this_session: 'This session was not opened with your organisation. Sign in again.',
  too_often: 'You or your address have signed in too often. Wait a minute.',
  provider:
    'The identity provider did not let you in, or did not answer. Try again; the log of the gateway says more.',
};

/** The page of somebody who is not signed in. */
export function SignIn({ ways, error }: { readonly ways: SignInWays; readonly error?: unknown }) {
  document.title = 'Sign in · Shim';
  const code = new URLSearchParams(location.search).get('sign_in_error') ?? '';
  const failed = Object.hasOwn(PROBLEMS, code) ? PROBLEMS[code] : undefined;
  return (
    <div class="sign-in">
      <main>
        <div class="stack">
          <span class="brand">Shim</span>
          <h1>Sign in</h1>
        </div>
        {error !== undefined && <Problem error={error} />}
        {failed !== undefined && <Problem error={failed} />}
        {typeof ways.refused === 'string' ? (
          <div class="notice wait" role="alert">
            {ways.refused}
          </div>
        ) : (
          <Ways ways={ways} />
        )}
      </main>
    </div>
  );
}

function Ways({ ways }: { readonly ways: SignInWays }) {
  return (
    <>
      {ways.oidc && (
        <a class="button main-act" href={oidcUrl()}>
          Sign in with your organisation
        </a>
      )}
      {ways.operator && (
        <SecretForm
          label="Operator token"
          hint="The value of ADMIN_TOKEN. It is not kept in this page."
          act="Sign in as the operator"
          credentials={(token) => ({ token })}
        />
      )}
      <SecretForm
        label="API key"
        hint="For the holder of a key. The page may do what the key may do."
        act="Sign in with the key"
        credentials={(key) => ({ api_key: key })}
      />
      {!ways.operator && !ways.oidc && (
        <p class="soft small">
          Operators cannot sign in: this gateway has neither ADMIN_TOKEN nor OIDC_ISSUER.
        </p>
      )}
    </>
  );
}

/** A link that opens a session of an account. */
export interface PortalLink {
  readonly portal: string;
  readonly account: string;
}

/** Asks before a link ends the session that is open. */
export function EnterByLink(props: {
  readonly link: PortalLink;
  readonly session: Session;
  readonly onEnd: () => void;
}) {
  const { link, session, onEnd } = props;
  const [error, setError] = useState<unknown>();
  const enter = () => {
    signIn({ portal: link.portal }).then((opened) => {
      showSession(opened);
      onEnd();
    }, setError);
  };
  return (
    <div class="sign-in">
      <main>
        <div class="stack">
          <span class="brand">Shim</span>
          <h1>Sign in as {link.account}?</h1>
        </div>
        <p>
          A link asks to sign you in as this account. You are signed in as {nameOf(session)}; that
          session would end.
        </p>
        {error !== undefined && <Problem error={error} />}
        <button type="button" class="main-act" onClick={onEnd}>
          Stay signed in as {nameOf(session)}
        </button>
        <button type="button" onClick={enter}>
          Sign in as {link.account}
        </button>
      </main>
    </div>
  );
}

/** What the former person read is not shown to this one. */
function showSession(session: Session): void {
  queries.removeQueries({ predicate: ({ queryKey: [name] }) => name !== SESSION_KEY[0] });
  queries.setQueryData(SESSION_KEY, session);
}

function SecretForm(props: {
  readonly label: string;
  readonly hint: string;
  readonly act: string;
  readonly credentials: (secret: string) => Credentials;
}) {
  const [secret, setSecret] = useState('');
  const [error, setError] = useState<unknown>();
  const [isSending, setSending] = useState(false);
  const send = (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    setSending(true);
    setError(undefined);
    signIn(props.credentials(secret.trim()))
      .then(showSession, setError)
      .finally(() => {
        setSecret('');
        setSending(false);
      });
  };
  return (
    <form onSubmit={send}>
      <label class="field">
        <span>{props.label}</span>
        <input
          type="password"
          autoComplete="off"
          spellcheck={false}
          required
          value={secret}
          onInput={(event) => {
            setSecret(event.currentTarget.value);
          }}
        />
        <small>{props.hint}</small>
      </label>
      {error !== undefined && <Problem error={error} />}
      <button type="submit" class="main-act" disabled={isSending}>
        {props.act}
      </button>
    </form>
  );
}
