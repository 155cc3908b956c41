const LOCAL = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });
export const UTC_DAY = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' });
const UTC_TIME = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium', timeZone: 'UTC' });
const LOCAL_DAY = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium' });
export const MINUTE_S = 60;
export const HOUR_S = 3_600;
export const DAY_S = 86_400;

/** A time in epoch seconds, in the zone of the reader, with the same time in UTC beside it where that is another. */
export function When({ at }: { readonly at: number | null | undefined }) {
  if (at === null || at === undefined) return <span class="soft">–</span>;
  const time = new Date(at * 1_000);
  if (time.getTimezoneOffset() === 0) {
    return (
      <time class="when" dateTime={time.toISOString()}>
        {LOCAL.format(time)} UTC
      </time>
    );
  }
  const utcDay = LOCAL_DAY.format(time) === UTC_DAY.format(time) ? '' : `${UTC_DAY.format(time)}, `;
  return (
    <time class="when" dateTime={time.toISOString()}>
      {LOCAL.format(time)} <small>{`${utcDay}${UTC_TIME.format(time)} UTC`}</small>
    </time>
  );
}

/** A length of time: "4 s", "12 min", "3 h 20 min", "2 d 4 h". */
export function age(seconds: number): string {
  if (seconds < MINUTE_S) return `${Math.max(0, Math.round(seconds))} s`;
  if (seconds < HOUR_S) return `${Math.floor(seconds / MINUTE_S)} min`;
  if (seconds < DAY_S) {
    return `${Math.floor(seconds / HOUR_S)} h ${Math.floor((seconds % HOUR_S) / MINUTE_S)} min`;
  }
  return `${count(seconds, DAY_S)} d ${Math.floor((seconds % DAY_S) / HOUR_S)} h`;
}

const count = (seconds: number, unit: number): string => String(Math.floor(seconds / unit));

/** Milliseconds as "815 ms" or "12.4 s". */
export const duration = (ms: number | null): string => {
  if (ms === null) return '–';
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`;
};

/** Epoch seconds of what a field of the type `datetime-local` has; undefined where it has nothing. */
export const secondsOf = (typed: string): number | undefined => {
  const ms = new Date(typed).getTime();
  return Number.isNaN(ms) ? undefined : Math.floor(ms / 1_000);
};

/** Epoch seconds as a field of the type `datetime-local` takes them. */
export function localMoment(seconds: number): string {
  const time = new Date(seconds * 1_000);
  if (Number.isNaN(time.getTime())) return '';
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
