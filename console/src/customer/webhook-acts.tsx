import { useState } from 'preact/hooks';
import { Act } from '../shared/act.js';
import { answerOf, api, type Shape } from '../shared/api.js';

type Endpoint = Shape<'WebhookEndpointView'>;
type EventType = Endpoint['events'][number];

/** A secret of an endpoint, which is shown once. */
export interface MadeSecret {
  readonly url: string;
  readonly secret: string;
}
type Made = (made: MadeSecret) => void;

const SECRET_BYTES = 32;

/** The events that an endpoint can be told, and when. */
export const EVENTS: readonly (readonly [EventType, string])[] = [
  ['balance.low', 'less is available than the alert says'],
  ['balance.depleted', 'a call was refused for want of balance'],
  ['limit.reached', '80 or 100 % of the limit of a key or run is used'],
  ['key.expiring', 'a key ends in 7 days, or in a day'],
  ['task.finished', 'a task succeeded, failed or expired'],
  ['task.unknown', 'nobody can know yet what became of a task'],
];

/** 64 characters that nobody can guess. */
const newSecret = (): string =>
  [...crypto.getRandomValues(new Uint8Array(SECRET_BYTES))]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('');

/** Makes an endpoint with a secret that was made here or typed. */
export function NewEndpoint({ onMade }: { readonly onMade: Made }) {
  const [url, setUrl] = useState('');
  const [secret, setSecret] = useState(newSecret);
  const [events, setEvents] = useState<readonly EventType[]>(EVENTS.map(([type]) => type));
  const run = async () => {
    const body = { url: url.trim(), secret, events: [...events] };
    await answerOf(api.POST('/v1/webhook-endpoints', { body }));
    onMade(body);
    setUrl('');
    setSecret(newSecret());
    return 'The endpoint was made. Copy its secret now: it is shown only once.';
  };
  return (
    <Act label="New endpoint" title="Make an endpoint" isMain run={run}>
      <label class="field">
        <span>URL</span>
        <input
          type="url"
          required
          maxLength={4_096}
          placeholder="https://example.com/hooks/shim"
          value={url}
          onInput={(event) => setUrl(event.currentTarget.value)}
        />
        <small>Public https. Each event is one POST to it.</small>
      </label>
      <Secret value={secret} onInput={setSecret} />
      <Events chosen={events} onChange={setEvents} />
    </Act>
  );
}

function Secret(props: { readonly value: string; readonly onInput: (value: string) => void }) {
  return (
    <>
      <label class="field">
        <span>Secret</span>
        <input
          type="text"
          class="mono"
          required
          minLength={16}
          maxLength={256}
          autoComplete="off"
          spellcheck={false}
          value={props.value}
          onInput={(event) => props.onInput(event.currentTarget.value)}
        />
        <small>
          Signs what is sent. It was made in this browser; type over it to use one of your own.
        </small>
      </label>
      <div>
        <button type="button" onClick={() => props.onInput(newSecret())}>
          Make another secret
        </button>
      </div>
    </>
  );
}

function Events(props: {
  readonly chosen: readonly EventType[];
  readonly onChange: (chosen: readonly EventType[]) => void;
}) {
  const { chosen, onChange } = props;
  return (
    <fieldset>
      <legend>Tell it</legend>
      {EVENTS.map(([type, when]) => (
        <label class="choice">
          <input
            type="checkbox"
            checked={chosen.includes(type)}
            onChange={({ currentTarget: { checked } }) =>
              onChange(checked ? [...chosen, type] : chosen.filter((one) => one !== type))
            }
          />
          <span>
            <span class="mono">{type}</span> <small class="soft">{when}</small>
          </span>
        </label>
      ))}
    </fieldset>
  );
}

/** What can be done with an endpoint. */
export function EndpointActs({ of, onMade }: { readonly of: Endpoint; readonly onMade: Made }) {
  return (
    <span class="row-acts">
      <SendTest of={of} />
      <NewSecret of={of} onMade={onMade} />
      <Delete of={of} />
    </span>
  );
}

function SendTest({ of: { id, url } }: { readonly of: Endpoint }) {
  const run = async () => {
    await answerOf(api.POST('/v1/webhook-endpoints/{id}/test', { params: { path: { id } } }));
    return 'The test is on its way. What the receiver answers stands under Deliveries.';
  };
  return (
    <Act label="Send a test" title="Send a test" run={run}>
      <p>
        An event of the type <span class="mono">test</span>, signed like all others, goes to{' '}
        <span class="mono">{url}</span>.
      </p>
    </Act>
  );
}

/** A new endpoint with the same URL and events first, then the end of the old one: no event is missed. */
function NewSecret({ of: old, onMade }: { readonly of: Endpoint; readonly onMade: Made }) {
  const [secret, setSecret] = useState(newSecret);
  const run = async () => {
    const { id, url, events } = old;
    await answerOf(api.POST('/v1/webhook-endpoints', { body: { url, secret, events } }));
    onMade({ url, secret });
    setSecret(newSecret());
    await answerOf(api.DELETE('/v1/webhook-endpoints/{id}', { params: { path: { id } } }));
    return 'The endpoint has a new secret. Copy it now: it is shown only once.';
  };
  return (
    <Act label="New secret" title="I lost the secret" run={run}>
      <p>
        Nobody can read the old secret. An endpoint with the same URL and events is made, and this
        one is deleted. Deliveries that wait keep the old signature.
      </p>
      <Secret value={secret} onInput={setSecret} />
    </Act>
  );
}

function Delete({ of: { id, url } }: { readonly of: Endpoint }) {
  const run = async () => {
    await answerOf(api.DELETE('/v1/webhook-endpoints/{id}', { params: { path: { id } } }));
    return 'The endpoint is told no more events.';
  };
  return (
    <Act label="Delete" title="Delete the endpoint" isDangerous run={run}>
      <p>
        <span class="mono">{url}</span> is told no new events. What it was told before is still
        delivered.
      </p>
    </Act>
  );
}
