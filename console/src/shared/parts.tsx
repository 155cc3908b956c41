import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { ApiProblem } from './api.js';
import { usd } from './money.js';

/** How a thing stands: only `bad` asks for a person. */
export type Tone = 'good' | 'wait' | 'bad' | 'plain';

const TONES: Readonly<Record<string, Tone>> = {
  ...{ succeeded: 'good', completed: 'good', delivered: 'good', active: 'good' },
  ...{ running: 'wait', queued: 'wait', processing: 'wait', in_progress: 'wait', pending: 'wait' },
  ...{ failed: 'bad', expired: 'bad', reconciliation_required: 'bad', disabled: 'bad' },
  revoked: 'bad',
};

/** A state in words, with the colour of its tone. */
export function Badge({ state, tone }: { readonly state: string; readonly tone?: Tone }) {
  return (
    <span class={`badge ${tone ?? TONES[state] ?? 'plain'}`}>{state.replaceAll('_', ' ')}</span>
  );
}

/** The head of a screen. It takes the focus when the screen opens, so that a screen reader says where one is. */
export function ScreenHead(props: {
  readonly title: string;
  readonly answers: ComponentChildren;
  readonly children?: ComponentChildren;
}) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${props.title} · Shim`;
    heading.current?.focus({ preventScroll: true });
  }, [props.title]);
  return (
    <div class="screen-head">
      <div>
        <h1 tabIndex={-1} ref={heading}>
          {props.title}
        </h1>
        <p>{props.answers}</p>
      </div>
      {props.children !== undefined && <div class="row">{props.children}</div>}
    </div>
  );
}

/** A part of a screen with a heading. */
export function Panel(props: {
  readonly title: string;
  readonly aside?: ComponentChildren;
  readonly children: ComponentChildren;
}) {
  return (
    <section class="panel" aria-label={props.title}>
      <div class="panel-head">
        <h2>{props.title}</h2>
        {props.aside}
      </div>
      {props.children}
    </section>
  );
}

/** Money in dollars. */
export function Money({ microUsd }: { readonly microUsd: string | null | undefined }) {
  if (microUsd === null || microUsd === undefined) return <span class="soft">–</span>;
  const isNegative = microUsd.startsWith('-');
  return <span class={isNegative ? 'number negative' : 'number'}>{usd(microUsd)}</span>;
}

const SHORT = /^([a-z]+_\w{8})\w{10,}(\w{4})$/;

/** An id, as a link where it has a page. In a table it is shortened; the whole one is its title. */
export function Id(props: {
  readonly id: string | null;
  readonly to?: string;
  readonly isShort?: boolean;
}) {
  const { id, to, isShort = false } = props;
  if (id === null) return <span class="soft">–</span>;
  const shown = isShort ? id.replace(SHORT, '$1…$2') : id;
  if (to === undefined) {
    return (
      <span class="mono" title={id}>
        {shown}
      </span>
    );
  }
  return (
    <Link class="mono" href={to} title={id}>
      {shown}
    </Link>
  );
}

/** A button that copies a text. */
export function Copy({ text, what }: { readonly text: string; readonly what: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = () => {
    void navigator.clipboard.writeText(text).then(() => {
      setCopied(true);
    });
  };
  return (
    <button type="button" class="bare" onClick={copy}>
      {isCopied ? 'Copied' : 'Copy'}
      <span class="only-read"> {what}</span>
    </button>
  );
}

/** Names and values. A value that is null is shown as a dash. */
export function Facts({ of }: { readonly of: readonly (readonly [string, ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {of.map(([name, value]) => (
        <>
          <dt>{name}</dt>
          <dd>{value ?? <span class="soft">–</span>}</dd>
        </>
      ))}
    </dl>
  );
}

/** Large figures, each with its name and, where given, a line below. */
export function Figures(props: {
  readonly of: readonly (readonly [string, ComponentChildren, ComponentChildren?])[];
}) {
  return (
    <dl class="figures">
      {props.of.map(([name, value, below]) => (
        <div>
          <dt>{name}</dt>
          <dd>{value}</dd>
          {below !== undefined && <dd>{below}</dd>}
        </div>
      ))}
    </dl>
  );
}

/** What one sees before the first answer. */
export function Loading() {
  return (
    <p class="soft" role="status">
      Loading…
    </p>
  );
}

/** A screen that cannot be shown yet, or at all. */
export function Unshown({ title, error }: { readonly title: string; readonly error: unknown }) {
  return (
    <>
      <ScreenHead title={title} answers="" />
      {error === null || error === undefined ? <Loading /> : <Problem error={error} />}
    </>
  );
}

/** Why a part of a screen is not there. */
export function Problem({ error }: { readonly error: unknown }) {
  const problem = error instanceof ApiProblem ? error : undefined;
  return (
    <div class="notice bad" role="alert">
      <p>{error instanceof Error ? error.message : String(error)}</p>
      {problem?.requestId !== undefined && <p class="mono">{problem.requestId}</p>}
    </div>
  );
}

/** A list without rows: why, and the next command. */
export function Empty(props: {
  readonly children: ComponentChildren;
  readonly command?: string | undefined;
}) {
  return (
    <div class="empty">
      <p>{props.children}</p>
      {props.command !== undefined && (
        <pre>
          <code>{props.command}</code>
        </pre>
      )}
    </div>
  );
}

/** The object as the API answers it. */
export function RawJson({ value }: { readonly value: unknown }) {
  const text = JSON.stringify(value, null, 2);
  return (
    <details class="panel">
      <summary>Raw JSON</summary>
      <Copy text={text} what="the JSON" />
      <pre tabIndex={0} aria-label="Raw JSON">
        {text}
      </pre>
    </details>
  );
}

/** One moment of an object's life. */
export interface Moment {
  readonly title: ComponentChildren;
  readonly at?: ComponentChildren;
  readonly detail?: ComponentChildren;
  readonly tone?: Tone;
}

/** What happened to an object, in order. */
export function Timeline({ of }: { readonly of: readonly Moment[] }) {
  return (
    <ol class="timeline">
      {of.map(({ title, at, detail, tone = 'plain' }) => (
        <li class={tone}>
          <h3>{title}</h3>
          {at}
          {detail !== undefined && <div>{detail}</div>}
        </li>
      ))}
    </ol>
  );
}
