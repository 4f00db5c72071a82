// The page starts here, in the window as in a browser.
import { mount } from 'svelte'
import App from './App.svelte'
import './look/tokens.css'
import './look/base.css'
import './look/controls.css'
import './look/shell.css'
import './look/inbox.css'
import './look/card.css'
import './look/pages.css'

const target = document.getElementById('app')
if (target === null) throw new Error('the page has no place for the app')
mount(App, { target })
