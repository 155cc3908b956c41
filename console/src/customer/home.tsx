import { api } from '../shared/api.js';
import { Figures, Loading, Money, Problem, RawJson, ScreenHead } from '../shared/parts.js';
import { useAnswer } from '../shared/queries.js';

/** How much the account has. */
export default function Home() {
  const { data, error } = useAnswer(['account'], () => api.GET('/v1/account'));
  if (error !== null) return <Problem error={error} />;
  if (data === undefined) return <Loading />;
  return (
    <>
      <ScreenHead title="Home" answers="How much have I got, and how long does it last?" />
      <Figures
        of={[
          ['Available', <Money microUsd={data.available_microusd} />],
          ['Held by what runs', <Money microUsd={data.held_microusd} />],
        ]}
      />
      <RawJson value={data} />
    </>
  );
}
