import { useState } from 'preact/hooks';
import type { TargetedSubmitEvent } from 'preact';
import { Problem } from './parts.js';
import { queries } from './queries.js';
import { type Credentials, oidcUrl, SESSION_KEY, signIn, type SignInWays } from './session.js';

/** The page of somebody who is not signed in. */
export function SignIn({ ways, error }: { readonly ways: SignInWays; readonly error?: unknown }) {
  document.title = 'Sign in · Shim';
  const failed = new URLSearchParams(location.search).get('sign_in_error');
  return (
    <div class="sign-in">
      <main>
        <div class="stack">
          <span class="brand">Shim</span>
          <h1>Sign in</h1>
        </div>
        {error !== undefined && <Problem error={error} />}
        {failed !== null && <Problem error={failed} />}
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
      .then(
        (session) => {
          // What the former person read is not shown to this one.
          queries.removeQueries({ predicate: ({ queryKey: [name] }) => name !== SESSION_KEY[0] });
          queries.setQueryData(SESSION_KEY, session);
        },
        (problem: unknown) => {
          setError(problem);
        },
      )
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
