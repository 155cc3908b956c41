import type { TargetedSubmitEvent } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { ApiProblem, type Shape } from '../../shared/api.js';
import { Panel, Problem } from '../../shared/parts.js';
import { useMayCall } from '../../shared/session.js';
import { CallCode } from './code.js';
import { type ApiDocument, hasSandbox, presetsOf, takesForm } from '../api-document.js';
import { type FieldDraft, type Drafts, draftsOf, filled, formFieldsOf } from './fields.js';
import { CallFields } from './form.js';
import { MagicMenu, withMagic } from './magic.js';
import { QuotedPrice, useQuote } from './price.js';
import { RecordingLength, useRecordingLength } from './recording-length.js';
import { CallRecord, CallResult, AnswerText } from './result.js';
import type { FormCall } from './send.js';
import { type RunningCall, useCall } from './use-call.js';

interface DeskProps {
  readonly document: ApiDocument;
  readonly path: string;
  readonly model: Shape<'ModelDetailView'>;
}

/** Fields that are shown at once wherever they are. */
const IN_SIGHT = ['prompt', 'stream', 'file', 'audio_url'];

/** The form of one operation and model, its price, its result and its code. */
export function Desk({ document, path, model }: DeskProps) {
  const presets = useMemo(() => presetsOf(document, path, model.id), [document, path, model]);
  const fields = useMemo(() => formFieldsOf(document, path, model), [document, path, model]);
  const [drafts, setDrafts] = useState<Drafts>(() => draftsOf(presets[0]?.[1] ?? {}, fields));
  const [inSight, setInSight] = useState(() => [
    ...IN_SIGHT,
    ...Object.keys(presets[0]?.[1] ?? {}),
  ]);
  const [magic, setMagic] = useState('');
  const typed = useMemo(() => filled(fields, drafts), [fields, drafts]);
  const body = magic === '' ? typed : withMagic(typed, magic);
  const sent: FormCall = { path, isForm: takesForm(document, path), model: model.id, body };
  const length = useRecordingLength(drafts);
  const quoted = useQuote(sent, length.seconds);
  const { call, run, stop } = useCall();
  const mayCall = useMayCall();
  const submit = (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (mayCall) run(sent);
  };
  const onDraft = (name: string, draft: FieldDraft | undefined) =>
    setDrafts(changed(drafts, name, draft));
  const choosePreset = (name: string) => {
    const [, example = {}] = presets.find(([one]) => one === name) ?? [];
    setDrafts(draftsOf(example, fields));
    setInSight([...IN_SIGHT, ...Object.keys(example)]);
  };
  const isRunning = call.state === 'running';
  const faults = { ...refusalOf(quoted.quote, call), ...body.faults };
  return (
    <div class="desk">
      <Panel title="Request">
        <form class="stack" id="call" onSubmit={submit} noValidate>
          {presets.length > 1 && (
            <Presets names={presets.map(([name]) => name)} onChoose={choosePreset} />
          )}
          <CallFields {...{ fields, drafts, inSight, faults, onDraft }} />
          <RecordingLength length={length} isAsked={quoted.quote?.hold_microusd === null} />
          {hasSandbox(document) && <MagicMenu path={path} word={magic} onWord={setMagic} />}
        </form>
      </Panel>
      <div class="stack desk-side">
        <Panel title="Price">
          <QuotedPrice {...quoted} faults={Object.keys(body.faults).length} />
          {mayCall ? (
            <CallButtons {...{ isRunning, stop }} isReady={Object.keys(body.faults).length === 0} />
          ) : (
            <p class="notice wait">To call, sign in with an API key of scope call.</p>
          )}
        </Panel>
        {mayCall && (
          <Panel title="Result">
            <Result call={call} />
          </Panel>
        )}
      </div>
      <CallCode call={sent} />
    </div>
  );
}

function CallButtons(props: {
  readonly isReady: boolean;
  readonly isRunning: boolean;
  readonly stop: () => void;
}) {
  const { isReady, isRunning, stop } = props;
  return (
    <div class="row">
      <button type="submit" form="call" class="main-act" disabled={isRunning || !isReady}>
        {isRunning ? 'Calling…' : 'Call'}
      </button>
      {isRunning && (
        <button type="button" onClick={stop}>
          Cancel
        </button>
      )}
    </div>
  );
}

/** A file takes the place of an address, and the other way round: one of both is sent. */
function changed(drafts: Drafts, name: string, draft: FieldDraft | undefined): Drafts {
  const { [name]: _before, ...others } = drafts;
  if (draft === undefined) return others;
  const { file, audio_url: url, ...rest } = others;
  if (name === 'file') return { ...rest, file: draft };
  if (name === 'audio_url') return { ...rest, audio_url: draft };
  return { ...others, [name]: draft };
}

/** What the gateway says of a field, before the call or after it. */
function refusalOf(
  quote: Shape<'QuoteView'> | undefined,
  { error }: RunningCall,
): Readonly<Record<string, string>> {
  const told =
    error instanceof ApiProblem ? error : quote?.id === undefined ? quote?.error : undefined;
  const [field] = told?.param?.split(/[.[]/) ?? [];
  return told === undefined || field === undefined ? {} : { [field]: told.message };
}

function Presets(props: {
  readonly names: readonly string[];
  readonly onChoose: (name: string) => void;
}) {
  return (
    <label class="field">
      <span>Example</span>
      <select onChange={(event) => props.onChoose(event.currentTarget.value)}>
        {props.names.map((name) => (
          <option value={name}>{name}</option>
        ))}
      </select>
    </label>
  );
}

function Result({ call: { state, text, answered, error } }: { readonly call: RunningCall }) {
  if (state === 'none') return <p class="soft">The answer is shown here.</p>;
  if (answered !== undefined) return <CallResult answered={answered} text={text} />;
  const record = error instanceof ApiProblem ? error.requestId : undefined;
  return (
    <div class="stack">
      <AnswerText text={text} />
      {state === 'running' && (
        <p class="soft" role="status">
          Waiting for the answer…
        </p>
      )}
      {state === 'stopped' && (
        <p class="notice wait" role="status">
          The request was ended. What was made until then may be charged; the rest is free again.
        </p>
      )}
      {state === 'failed' && <Problem error={error} />}
      {error instanceof ApiProblem && <Refusal problem={error} />}
      {record !== undefined && <CallRecord id={record} />}
    </div>
  );
}

function Refusal({ problem: { status, code, param } }: { readonly problem: ApiProblem }) {
  const told = [`status ${status}`, code, param === undefined ? undefined : `field ${param}`];
  return <p class="small soft">{told.filter((one) => one !== undefined).join(' · ')}</p>;
}
