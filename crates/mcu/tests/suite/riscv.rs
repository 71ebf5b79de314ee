mod afio;
mod debug_data;
mod instructions;
mod oracle;
mod timer;
