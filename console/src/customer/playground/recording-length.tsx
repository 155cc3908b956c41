import { useEffect, useState } from 'preact/hooks';
import { PATH_PREFIX } from '../../shared/api.js';
import type { Drafts } from './fields.js';

const OWN_MEDIA = `${PATH_PREFIX}/sandbox/media/`;

/** The length of the recording of a form, for its price. */
export interface KnownLength {
  readonly seconds: number | undefined;
  readonly typed: string;
  readonly onTyped: (typed: string) => void;
}

/** The length that was typed, or else the one that the browser reads from the file or from a recording of this gateway. */
export function useRecordingLength({
  file,
  audio_url: audioUrl,
  source_url: sourceUrl,
}: Drafts): KnownLength {
  const [typed, setTyped] = useState('');
  const [measured, setMeasured] = useState<number>();
  const chosen = file instanceof File ? file : undefined;
  const url =
    typeof audioUrl === 'string' ? audioUrl : typeof sourceUrl === 'string' ? sourceUrl : '';
  useEffect(() => {
    setMeasured(undefined);
    setTyped('');
    const own = chosen === undefined ? ownUrl(url) : URL.createObjectURL(chosen);
    if (own === undefined) return undefined;
    const player = new Audio();
    player.preload = 'metadata';
    player.addEventListener('loadedmetadata', () => {
      if (Number.isFinite(player.duration)) setMeasured(player.duration);
    });
    player.src = own;
    return () => {
      player.removeAttribute('src');
      if (chosen !== undefined) URL.revokeObjectURL(own);
    };
  }, [chosen, url]);
  const number = Number(typed);
  return { seconds: number > 0 ? number : measured, typed, onTyped: setTyped };
}

/** The path of a recording of this gateway; the page reads no other. */
function ownUrl(text: string): string | undefined {
  const url = URL.parse(text);
  if (url?.origin !== location.origin || !url.pathname.startsWith(OWN_MEDIA)) return undefined;
  return url.pathname;
}

/** Asks for the length of a recording that the page cannot read. */
export function RecordingLength(props: {
  readonly length: KnownLength;
  readonly isAsked: boolean;
}) {
  const { seconds, typed, onTyped } = props.length;
  if (!props.isAsked && typed === '') return null;
  return (
    <label class="field">
      <span>Length of the recording in seconds</span>
      <input
        type="number"
        min={0.1}
        step="any"
        value={typed}
        onInput={(event) => onTyped(event.currentTarget.value)}
      />
      <small>
        Only for the price before the call: the gateway measures the file itself.
        {seconds === undefined && ' Without it the price is not known before.'}
      </small>
    </label>
  );
}
