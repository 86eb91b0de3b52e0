import { FC, useState } from 'react'
import type { Props } from './props'

interface CardProps extends Props { title: string; onPick?: (id: number) => void }

/** Shows one card. */
export const Card: FC<CardProps> = ({ title, onPick, ...rest }: CardProps) => {
  const [open, setOpen] = useState<boolean>(false)
  const store = new Store<string>()
  return <Panel.Body {...rest} onClick={() => onPick?.(1)}>{open && <List<string> items={store.all()} />}</Panel.Body>
}

export default function App({ user }: { user: User }) {
  return (
    <>
      <Card title={user.name} />
    </>
  )
}

class Old extends React.Component<CardProps, State> {
  state: State = { open: false }
  render() {
    return <div>{this.props.title}</div>
  }
}
