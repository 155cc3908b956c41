import type { ComponentChildren, TargetedSubmitEvent } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { ApiProblem } from './api.js';
import { Problem } from './parts.js';
import { endSessionOn, queries } from './queries.js';
import { oidcUrl, prove, SESSION_KEY, useSession } from './session.js';
import { tell } from './told.js';

/** A proof that ends within this time may be too old when the gateway sees it. */
const PROOF_MARGIN_MS = 10_000;

/** What a deed is done with. */
export interface Deed {
  /** Why, as the operator wrote; empty where it was not asked for. */
  readonly reason: string;
  /** The same for each try, so that money moves once. */
  readonly idempotencyKey: string;
}

interface ActProps {
  /** The words on the button, and on the button that does it. */
  readonly label: string;
  readonly title: string;
  /** Fields, and what it does to the money. */
  readonly children: ComponentChildren;
  /** Does it; answers what is told then. */
  readonly run: (deed: Deed) => Promise<string>;
  readonly isMain?: boolean;
  readonly isDangerous?: boolean;
  /** Asks for a reason, and for the token where the last proof is old. */
  readonly movesMoney?: boolean;
  /** Asks for a reason alone. */
  readonly needsReason?: boolean;
}

/** A button that opens a dialogue, which does one deed. */
export function Act(props: ActProps) {
  const [isOpen, setOpen] = useState(false);
  // Kept while it is not known what came of it, also by a dialogue that is opened anew.
  const [idempotencyKey, setKey] = useState(() => crypto.randomUUID());
  const { label, isMain, isDangerous } = props;
  const look = isDangerous ? 'danger' : isMain ? 'main-act' : undefined;
  return (
    <>
      <button type="button" class={look} onClick={() => setOpen(true)}>
        {label}
      </button>
      {isOpen && (
        <ActDialog
          {...props}
          idempotencyKey={idempotencyKey}
          onKnown={() => setKey(crypto.randomUUID())}
          onClose={() => setOpen(false)}
        />
      )}
    </>
  );
}

interface DialogProps extends ActProps {
  readonly idempotencyKey: string;
  /** Called when it was done, or refused. */
  readonly onKnown: () => void;
  readonly onClose: () => void;
}

function ActDialog(props: DialogProps) {
  const { title, label, children, run, movesMoney = false, onClose } = props;
  const needsReason = movesMoney || props.needsReason;
  const { idempotencyKey, onKnown } = props;
  const dialog = useRef<HTMLDialogElement>(null);
  const headingId = useId();
  const [error, setError] = useState<unknown>();
  const [isSending, setSending] = useState(false);
  const [mustProve, setMustProve] = useState(false);
  const [reason, setReason] = useState('');
  const [proof, setProof] = useState('');
  const isProofOld = useIsProofOld();
  const asksForProof = movesMoney && (isProofOld || mustProve);
  const { person } = useSession();
  useEffect(() => dialog.current?.showModal(), []);

  const send = async () => {
    if (asksForProof) queries.setQueryData(SESSION_KEY, await prove(proof.trim()));
    const done = await run({ reason: reason.trim(), idempotencyKey });
    onKnown();
    tell(done);
    onClose();
    await queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey !== SESSION_KEY });
  };
  const submit = (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    setSending(true);
    setError(undefined);
    send().catch((problem: unknown) => {
      endSessionOn(problem);
      if (problem instanceof ApiProblem && problem.param === 'proof') setMustProve(true);
      if (isRefusal(problem)) onKnown();
      setError(problem);
      setProof('');
      setSending(false);
    });
  };
  return (
    <dialog
      ref={dialog}
      aria-labelledby={headingId}
      onClose={onClose}
      onCancel={(event) => {
        if (isSending) event.preventDefault();
      }}
    >
      <form onSubmit={submit}>
        <h2 id={headingId}>{title}</h2>
        {children}
        {needsReason && (
          <label class="field">
            <span>Reason</span>
            <textarea
              required
              rows={2}
              maxLength={500}
              value={reason}
              onInput={(event) => setReason(event.currentTarget.value)}
            />
            <small>Kept with your name in the record of what operators did.</small>
          </label>
        )}
        {asksForProof && <Proof value={proof} onInput={setProof} />}
        {error !== undefined && <Problem error={error} />}
        <div class="ends">
          <button type="button" disabled={isSending} onClick={() => dialog.current?.close()}>
            Cancel
          </button>
          <button
            type="submit"
            class={props.isDangerous ? 'danger' : 'main-act'}
            disabled={isSending || (asksForProof && person !== null)}
          >
            {isSending ? 'Sending…' : label}
          </button>
        </div>
      </form>
    </dialog>
  );
}

/** Whether it is known that nothing was done. */
const isRefusal = (problem: unknown): boolean =>
  problem instanceof ApiProblem && problem.status >= 400 && problem.status < 500;

/** Whether the operator has to prove anew to be there, as of when the dialogue opened. */
function useIsProofOld(): boolean {
  const { proof_until: until } = useSession();
  const [openedAtMs] = useState(() => Date.now());
  return until === null || until * 1_000 < openedAtMs + PROOF_MARGIN_MS;
}

/** An operator of the token types it; one of an identity provider proves there to be who the session is of. */
function Proof(props: { readonly value: string; readonly onInput: (value: string) => void }) {
  const { person } = useSession();
  const rule = 'Money moves only within 5 minutes of a proof that you are here.';
  if (person !== null) {
    return (
      <p class="notice wait">
        {rule} <a href={oidcUrl(true)}>Sign in with your organisation again</a>, then open this once
        more.
      </p>
    );
  }
  return (
    <label class="field">
      <span>Operator token</span>
      <input
        type="password"
        autoComplete="off"
        required
        value={props.value}
        onInput={(event) => props.onInput(event.currentTarget.value)}
      />
      <small>{rule}</small>
    </label>
  );
}
