// Used energy of all meters.

import type { JSX } from 'preact';
import { ConsumptionCard } from '../parts/consumption';
import { useStore } from '../store';

export function ConsumptionPage(): JSX.Element {
  const { meters } = useStore();
  return <ConsumptionCard title="All meters" meters={meters} />;
}
