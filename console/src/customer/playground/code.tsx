import { samplesOf } from '../../../../src/bootstrap/openapi/code-samples.js';
import { PATH_PREFIX } from '../../shared/api.js';
import { Copy, Panel } from '../../shared/parts.js';
import { type FormCall, jsonBodyOf } from './send.js';

const SECRET = 'SHIM_API_KEY';
const MADE_AUDIO: Readonly<Record<string, string>> = { opus: 'ogg', pcm: 'pcm', wav: 'wav' };
const ANSWERS_FILE = /audio\/(speech|dialogue|voice-changer|isolation|sound-effects|music)$/;

/** The call that is in the form, in the forms of the document's samples. The key is named, never shown. */
export function CallCode({ call }: { readonly call: FormCall }) {
  const samples = samplesOf({
    method: 'POST',
    url: `${location.origin}${PATH_PREFIX}${call.path}`,
    secret: SECRET,
    headers: {},
    body: {
      kind: call.isForm ? 'form' : 'json',
      fields: jsonBodyOf(call),
      files: Object.fromEntries(
        Object.entries(call.body.files).map(([name, file]) => [name, file.name]),
      ),
    },
    answer: answerKindOf(call),
  });
  return (
    <Panel title="Code">
      <p class="soft">
        The call above, to run outside this page. The key is read from{' '}
        <span class="mono">{SECRET}</span>.
      </p>
      {samples.map(({ label, source }, index) => (
        <details open={index === 0}>
          <summary>{label}</summary>
          <Copy text={source} what={`the code for ${label}`} />
          <pre class="wrapped" tabIndex={0} aria-label={`Code for ${label}`}>
            {source}
          </pre>
        </details>
      ))}
    </Panel>
  );
}

function answerKindOf({ path, body: { fields } }: FormCall) {
  if (fields.stream === true) return 'text';
  if (!ANSWERS_FILE.test(path)) return 'json';
  const ending = MADE_AUDIO[String(fields.response_format)] ?? 'mp3';
  return { file: `${path.split('/').at(-1) ?? 'answer'}.${ending}` };
}
