import { useEffect, useMemo } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { api } from '../../shared/api.js';
import { Media } from '../../shared/media.js';
import { Facts, Id, Money, RawJson } from '../../shared/parts.js';
import { useAnswer } from '../../shared/queries.js';
import { takenOver, TaskProgress } from './task-progress.js';
import type { Answered, Outcome } from './send.js';

const READ_EVERY_MS = 1_000;

/** What a call answered, with what it cost and where its record is. */
export function CallResult({
  answered,
  text,
}: {
  readonly answered: Answered;
  readonly text: string;
}) {
  const { outcome, executionId, charged, isOfSandbox } = answered;
  const task = outcome.kind === 'json' ? takenOver(outcome.value) : undefined;
  if (task !== undefined) return <TaskProgress first={task} isOfSandbox={isOfSandbox} />;
  return (
    <div class="stack">
      <OutcomeShown outcome={outcome} text={text} />
      {executionId !== undefined && (
        <Facts
          of={[
            [
              'Charged',
              charged === undefined ? <ChargeOf id={executionId} /> : <Money microUsd={charged} />,
            ],
            ['Call', <Id id={executionId} to={`/calls/${executionId}`} />],
            ...(isOfSandbox ? [['Made by', 'the sandbox'] as const] : []),
          ]}
        />
      )}
    </div>
  );
}

/** The charge of a call that told none: a stream tells it at its end. */
function ChargeOf({ id }: { readonly id: string }) {
  const { data } = useAnswer(
    ['call', id],
    () => api.GET('/v1/executions/{id}', { params: { path: { id } } }),
    { everyMs: READ_EVERY_MS, until: ({ status }) => status !== 'running' },
  );
  return <Money microUsd={data?.charged_microusd} />;
}

function OutcomeShown({ outcome, text }: { readonly outcome: Outcome; readonly text: string }) {
  switch (outcome.kind) {
    case 'stream':
      return (
        <>
          <AnswerText text={text} />
          <RawJson value={outcome.events} />
        </>
      );
    case 'json':
      return (
        <>
          <AnswerText text={textIn(outcome.value)} />
          <Pictures value={outcome.value} />
          <RawJson value={outcome.value} />
        </>
      );
    case 'file':
      return <FileShown blob={outcome.blob} name={outcome.name} />;
    case 'text':
      return <AnswerText text={outcome.text} />;
  }
}

/** A text of an answer, as it stands. */
export function AnswerText({ text }: { readonly text: string }) {
  return text === '' ? null : <p class="told-text">{text}</p>;
}

/** A URL for a file, as long as it is shown. */
function useFileUrl(blob: Blob): string {
  const url = useMemo(() => URL.createObjectURL(blob), [blob]);
  useEffect(() => () => URL.revokeObjectURL(url), [url]);
  return url;
}

function FileShown({ blob, name }: { readonly blob: Blob; readonly name: string }) {
  const url = useFileUrl(blob);
  const [kind] = blob.type.split('/');
  return (
    <div class="stack">
      {kind === 'audio' && <audio class="media" controls src={url} aria-label={name} />}
      {kind === 'video' && <video class="media" controls src={url} aria-label={name} />}
      {kind === 'image' && <img class="media" src={url} alt={name} />}
      <p>
        <a class="button" href={url} download={name}>
          Download {name}
        </a>
      </p>
    </div>
  );
}

interface ImageData {
  readonly b64_json?: string | null;
  readonly url?: string | null;
}

/** The pictures of an answer: inside it, or at a URL. */
function Pictures({ value }: { readonly value: unknown }) {
  const { data } = (value ?? {}) as { readonly data?: unknown };
  if (!Array.isArray(data)) return null;
  return (
    <>
      {(data as readonly ImageData[]).map((image, index) => {
        if (typeof image.b64_json === 'string') {
          return <Picture base64={image.b64_json} name={`image-${index + 1}.png`} />;
        }
        return typeof image.url === 'string' ? <Media result={image.url} kind="image" /> : null;
      })}
    </>
  );
}

function Picture({ base64, name }: { readonly base64: string; readonly name: string }) {
  const blob = useMemo(() => pictureOf(base64), [base64]);
  if (blob === undefined) {
    return (
      <p class="notice bad" role="status">
        {name} cannot be shown: its <span class="mono">b64_json</span> is no base64.
      </p>
    );
  }
  return <FileShown blob={blob} name={name} />;
}

/** Undefined where the text is no base64. */
function pictureOf(base64: string): Blob | undefined {
  try {
    const bytes = Uint8Array.from(atob(base64), (one) => one.charCodeAt(0));
    return new Blob([bytes], { type: 'image/png' });
  } catch {
    return undefined;
  }
}

interface TextParts {
  readonly text?: unknown;
  readonly choices?: readonly { readonly message?: { readonly content?: unknown } }[];
  readonly content?: unknown;
  readonly output?: readonly { readonly content?: unknown }[];
}

/** The text of a chat, a response, a message or a transcription; empty where there is none. */
function textIn(value: unknown): string {
  if (typeof value !== 'object' || value === null) return '';
  const { text, choices, content, output } = value as TextParts;
  if (typeof text === 'string') return text;
  const parts = [
    ...(choices ?? []).map(({ message }) => message?.content),
    ...partsIn(content),
    ...(output ?? []).flatMap((item) => partsIn(item.content)),
  ];
  return parts.filter((part) => typeof part === 'string').join('\n');
}

const partsIn = (content: unknown): readonly unknown[] =>
  Array.isArray(content) ? (content as readonly TextParts[]).map((part) => part.text) : [];

/** What a refused or ended call says of itself. */
export function CallRecord({ id }: { readonly id: string }) {
  return (
    <p>
      <Link href={`/calls/${id}`}>Open the call</Link>
    </p>
  );
}
